// Prints every declaration of a tree as the TypeScript compiler sees them:
// functions, classes, methods, accessors, constructors, interfaces, types, enums,
// namespaces, and functions or classes that take their name from what they are
// assigned to. Usage: node declarations.js ROOT PATH_OF_TYPESCRIPT_MODULE
const fs = require('fs');
const path = require('path');
const ts = require(process.argv[3]);

const root = process.argv[2];
const K = ts.SyntaxKind;

function walk(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) walk(file);
    else if (entry.isFile() && /\.([mc]?ts|tsx|[mc]?js|jsx)$/.test(entry.name)) read(file);
  }
}

// Bundled and minified files are left out: nobody reads their declarations.
function isGenerated(file, source) {
  return /\.min\.[mc]?js$/.test(file) || source.length > 1e6 || source.split('\n').some((line) => line.length > 2000);
}

function scriptKind(file) {
  if (/\.[mc]?jsx?$/.test(file)) return ts.ScriptKind.JSX;
  return file.endsWith('tsx') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
}

function read(file) {
  const source = fs.readFileSync(file, 'utf8');
  if (isGenerated(file, source)) return;
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true, scriptKind(file));
  if (tree.parseDiagnostics && tree.parseDiagnostics.length) return;
  const rel = path.relative(root, file);
  console.log(JSON.stringify({ file: rel }));
  const visit = (node) => {
    const found = declared(node);
    if (found && found.name) {
      const line = tree.getLineAndCharacterOfPosition(found.at.getStart(tree)).line + 1;
      console.log(JSON.stringify({ file: rel, name: found.name, line }));
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
}

function nameOf(node) {
  if (!node || node.kind === K.ComputedPropertyName) return undefined;
  return node.kind === K.PropertyAccessExpression ? node.name.text : node.text;
}

const isFunction = (node) => node && (node.kind === K.ArrowFunction || node.kind === K.FunctionExpression);

const isAssignment = (node) => node.kind === K.BinaryExpression && node.operatorToken.kind === K.EqualsToken;

// namesItsValue: const x = VALUE, x: VALUE, x = VALUE.
function namesItsValue(node) {
  return [K.VariableDeclaration, K.PropertyAssignment, K.PropertyDeclaration].includes(node.kind) || isAssignment(node);
}

function declared(node) {
  switch (node.kind) {
    case K.FunctionExpression:
      if (namesItsValue(node.parent)) return undefined;
    // falls through
    case K.FunctionDeclaration:
    case K.ClassDeclaration:
    case K.InterfaceDeclaration:
    case K.TypeAliasDeclaration:
    case K.EnumDeclaration:
    case K.MethodDeclaration:
    case K.MethodSignature:
    case K.GetAccessor:
    case K.SetAccessor:
      return node.name && { name: nameOf(node.name), at: node.name };
    case K.Constructor:
      return { name: 'constructor', at: node };
    case K.ModuleDeclaration:
      return node.name.kind === K.Identifier && node.body && node.body.kind === K.ModuleBlock ? { name: node.name.text, at: node.name } : undefined;
    case K.ClassExpression: {
      const name = node.name || (namesItsValue(node.parent) && node.parent.name);
      return name && { name: nameOf(name), at: name };
    }
    case K.VariableDeclaration:
    case K.PropertyDeclaration:
    case K.PropertyAssignment:
      return isFunction(node.initializer) ? { name: nameOf(node.name), at: node.name } : undefined;
    case K.BinaryExpression:
      if (!isAssignment(node) || !isFunction(node.right)) return undefined;
      if (node.left.kind !== K.Identifier && node.left.kind !== K.PropertyAccessExpression) return undefined;
      return { name: nameOf(node.left), at: node.left.name || node.left };
  }
  return undefined;
}

walk(root);
