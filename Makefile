# orchestrator-cc. `make` alone lists what can be done.
SHELL := /bin/bash
BIN   := bin/orchestrator-cc
GO    := CGO_ENABLED=0 go
FLAGS := -trimpath -ldflags="-s -w"

.PHONY: help run record test test-engines lint build install bench soak screenshot tools

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: tools build ## start the five agents on the built-in engine, ask one question, say what to type next
	@scripts/run.sh $(BIN)

test: tools lint ## everything that CI checks
	go test -race -shuffle=on -timeout 14m ./...

PROGRAMS := claude|codex|gemini|opencode

test-engines: tools ## the real agent programs, from the npm registry, against a scripted model on loopback; ALL=1 leaves nothing out
	programs="$$(scripts/engines.sh)" && ORCHESTRATOR_CC_ENGINES="$$programs" go test $(if $(ALL),,-short) -count=1 -parallel 3 -timeout 30m -run '/($(PROGRAMS))' ./engines

record: tools ## record what the agent programs show, below agents/testdata; R=gemini/79x15 records a part
	programs="$$(scripts/engines.sh)" && ORCHESTRATOR_CC_RECORD="$$PWD/agents/testdata" ORCHESTRATOR_CC_ENGINES="$$programs" \
		go test -count=1 -parallel 4 -timeout 90m -run 'TestRecordScreens/$(R)' ./engines
	go test ./agents -run TestScreensAreRead -update

lint: ## formatting, vet and staticcheck, for Linux and macOS
	@out="$$(gofmt -l $$(git ls-files '*.go'))"; if [ -n "$$out" ]; then echo "not gofmt'ed:"; echo "$$out"; exit 1; fi
	go vet ./...
	GOOS=darwin go vet ./...
	go tool staticcheck ./...

build: ## build the binary into bin/
	$(GO) build $(FLAGS) -o $(BIN) ./cmd/orchestrator-cc

install: ## install the binary into Go's bin folder
	$(GO) install $(FLAGS) ./cmd/orchestrator-cc
	@dir="$$(go env GOBIN)"; dir="$${dir:-$$(go env GOPATH)/bin}"; echo "installed: $$dir/orchestrator-cc"; \
	case ":$$PATH:" in *":$$dir:"*) ;; *) echo "it is not on your path yet; type: export PATH=\"$$dir:\$$PATH\"";; esac

bench: tools ## the figures, as ratios against a baseline in the same run (JSON in bench.json)
	@scripts/bench.sh

soak: tools ## the trap and crash suites and the agent programs many times over; takes long
	@scripts/soak.sh

screenshot: tools build ## draw docs/session.png from a live session
	@scripts/screenshot.sh $(BIN)

tools: ## install tmux where it is missing (in CI also the clients that tests use)
	@scripts/tools.sh
