# Prints every def and class of a tree as CPython's own parser sees them.
import ast
import json
import os
import sys
import warnings

warnings.simplefilter("ignore")
root = sys.argv[1]
for folder, _, names in os.walk(root):
    for name in names:
        if not name.endswith(".py"):
            continue
        path = os.path.join(folder, name)
        rel = os.path.relpath(path, root)
        try:
            with open(path, "rb") as file:
                tree = ast.parse(file.read())
        except (SyntaxError, ValueError, OSError):
            continue
        print(json.dumps({"file": rel}))
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                print(json.dumps({"file": rel, "name": node.name, "line": node.lineno}))
