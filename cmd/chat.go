package cmd

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator-cc/builtin"
	"orchestrator-cc/config"
)

// What tells a chat about its model, besides the flags of its command. The
// names that other programs use for the same things count too.
const (
	envChatURL   = "CHAT_URL"
	envChatModel = "CHAT_MODEL"
	envChatKey   = "CHAT_KEY"
	envOllama    = "OLLAMA_HOST"
	envOpenAIURL = "OPENAI_BASE_URL"
	envOpenAIKey = "OPENAI_API_KEY"
)

// localModel is where Ollama listens by itself.
const localModel = "http://127.0.0.1:11434"

// engineChat is the one engine besides the built-in one that `agent` runs.
const engineChat = "chat"

// chatOptions is what a chat is started with.
type chatOptions struct{ engine, model, url, brief, memory string }

func (o *chatOptions) flags(c *cobra.Command) {
	c.Flags().StringVar(&o.engine, "engine", "", "chat: ask a model")
	c.Flags().StringVar(&o.model, "model", "", "the model's name (or "+envChatModel+")")
	c.Flags().StringVar(&o.url, "url", "", "Ollama, or an OpenAI-compatible interface that ends in /v1 (or "+envChatURL+")")
	c.Flags().StringVar(&o.brief, "personality", "", "the file with the agent's brief")
	c.Flags().StringVar(&o.memory, "memory", "", "the file that keeps the conversation over a restart")
}

// brain is the chat. A key comes by the environment only, so that no list of
// processes shows it, and it goes to no other host than it was set for.
func (o chatOptions) brain(marker string, getenv func(string) string) (*builtin.Chat, error) {
	if o.engine != engineChat {
		return nil, fmt.Errorf("start an agent: engine %q is unknown; write --engine %s, or leave it out", o.engine, engineChat)
	}
	m := builtin.Model{Name: first(o.model, getenv(envChatModel)), URL: first(o.url, getenv(envChatURL)), Key: getenv(envChatKey)}
	if m.URL == "" {
		m.URL = first(getenv(envOpenAIURL), getenv(envOllama), localModel)
		if m.URL == getenv(envOpenAIURL) {
			m.Key = first(m.Key, getenv(envOpenAIKey))
		}
	}
	if !strings.Contains(m.URL, "://") {
		m.URL = "http://" + m.URL // as Ollama's own variable has it
	}
	m.OpenAI = strings.HasSuffix(strings.TrimRight(m.URL, "/"), "/v1")
	if m.Name == "" {
		return nil, fmt.Errorf("start a chat: no model is named; set %s in the engine's env, or add --model to its command", envChatModel)
	}
	chat := &builtin.Chat{Model: m, Marker: marker, File: o.memory, Client: &http.Client{}}
	if o.brief != "" {
		text, err := os.ReadFile(o.brief)
		if err != nil {
			return nil, fmt.Errorf("start a chat: read its brief: %w", err)
		}
		chat.Brief = string(text)
	}
	return chat, nil
}

// lacksModel says that an engine is a chat which nobody has told its model.
func lacksModel(e config.Engine, getenv func(string) string) bool {
	named := slices.ContainsFunc(e.Command, func(arg string) bool { return arg == "--model" || strings.HasPrefix(arg, "--model=") })
	return slices.Contains(e.Command, engineChat) && !named && first(e.Env[envChatModel], getenv(envChatModel)) == ""
}

// aboutChat says who is asked, and whether an earlier conversation goes on. One
// that cannot be read is no reason not to talk.
func aboutChat(chat *builtin.Chat) string {
	about := chat.Model.Name + " at " + chat.Model.URL
	switch exchanges, err := chat.Recall(); {
	case err != nil:
		about += ", begins anew: " + err.Error()
	case exchanges > 0:
		about += fmt.Sprintf(", goes on after %d exchanges", exchanges)
	}
	return about
}

// first is the first text that is not empty.
func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
