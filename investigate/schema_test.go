package investigate

import (
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestEnvelopesValidateAgainstTheSchema(t *testing.T) {
	t.Parallel()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile("testdata/envelope.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range everyEnvelope(t) {
		if err := schema.Validate(decoded(t, e)); err != nil {
			t.Errorf("message %s of %s: %v", e.MessageType, e.Command, err)
		}
	}
	bad := decoded(t, Envelope{Sender: Manager, Receiver: Coding, MessageType: "gossip"})
	if schema.Validate(bad) == nil {
		t.Error("got an unknown message type accepted, want it refused")
	}
}
