package main

import (
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"ctxdb/engine/openai"
)

// keyVariable holds the key of an endpoint, where --key-env names no other.
const keyVariable = "CTXDB_API_KEY"

// modelFlags say which model makes vectors.
type modelFlags struct {
	url, model, keyEnv string
	dimensions         int
}

func (m *modelFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&m.url, "embedder", "", "the `URL` of an endpoint that speaks OpenAI's protocol, like http://localhost:11434/v1")
	flags.StringVar(&m.model, "model", "", "the `NAME` of the model that makes vectors there")
	flags.IntVar(&m.dimensions, "dimensions", 0, "ask for vectors of `N` numbers")
	flags.StringVar(&m.keyEnv, "key-env", "", "the `NAME` of the environment variable that holds the key (default "+keyVariable+", and OPENAI_API_KEY for api.openai.com)")
}

// embedder is the model that the flags name; nil: none.
func (m *modelFlags) embedder(cmd *cobra.Command) (*openai.Embedder, error) {
	if m.url == "" {
		for _, name := range []string{"model", "dimensions", "key-env"} {
			if cmd.Flags().Changed(name) {
				return nil, usage(cmd, "--%s needs --embedder", name)
			}
		}
		return nil, nil
	}
	if m.model == "" {
		return nil, usage(cmd, "--embedder needs --model")
	}
	key, err := m.key(cmd)
	if err != nil {
		return nil, err
	}
	e, err := openai.NewEmbedder(openai.Config{URL: m.url, Model: m.model, Dimensions: m.dimensions, Key: key})
	if err != nil {
		return nil, usage(cmd, "--embedder: %s", strings.TrimPrefix(err.Error(), "openai: "))
	}
	return e, nil
}

// key comes from the environment. The one for OpenAI goes to nobody else.
func (m *modelFlags) key(cmd *cobra.Command) (string, error) {
	if m.keyEnv != "" {
		key, ok := os.LookupEnv(m.keyEnv)
		if !ok {
			return "", usage(cmd, "--key-env: there is no variable of that name in the environment")
		}
		return key, nil
	}
	if key := os.Getenv(keyVariable); key != "" {
		return key, nil
	}
	if u, err := url.Parse(m.url); err == nil && u.Scheme == "https" && u.Hostname() == "api.openai.com" {
		return os.Getenv("OPENAI_API_KEY"), nil
	}
	return "", nil
}
