"""A few steps of supervised fine-tuning, as trainers do it: the chat template makes the text, only
the answer teaches."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

Messages = Sequence[dict[str, str]]


def tokens_of(tokenizer: Any, messages: Messages) -> tuple[list[int], int]:
    """Return the tokens of a conversation, and the start of the answer."""
    frame = {"tokenize": False, "enable_thinking": False}
    asked = tokenizer.apply_chat_template(messages[:-1], add_generation_prompt=True, **frame)
    whole = tokenizer.apply_chat_template(messages, add_generation_prompt=False, **frame)
    assert whole.startswith(asked), "the answer stands where the labeler expects it"
    prompt = tokenizer.encode(asked, add_special_tokens=False)
    return [*prompt, *tokenizer.encode(whole[len(asked) :], add_special_tokens=False)], len(prompt)


def fine_tune(checkpoint: Path, conversations: Sequence[Messages], out: Path, epochs: int) -> list[float]:
    """Train on the conversations one by one, write the checkpoint `out`, return the mean loss of
    each epoch."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint)
    model = transformers.Qwen3ForCausalLM.from_pretrained(checkpoint).float().train()
    # Of its 20 million weights 19.4 are the vocabulary's, tied to the output: without them a step
    # takes a fifth of the time.
    model.model.embed_tokens.weight.requires_grad_(False)
    learning = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(learning, lr=4e-3, weight_decay=0.0)
    examples = [tokens_of(tokenizer, messages) for messages in conversations]
    losses = []
    for _ in range(epochs):
        of_epoch = []
        for tokens, answer in examples:
            states = model.model(torch.tensor([tokens])).last_hidden_state[0, answer - 1 : -1]
            # The vocabulary of 152,000 is scored only for the answer.
            loss = torch.nn.functional.cross_entropy(model.lm_head(states), torch.tensor(tokens[answer:]))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learning, 1.0)
            optimizer.step()
            optimizer.zero_grad()
            of_epoch.append(float(loss.detach()))
        losses.append(sum(of_epoch) / len(of_epoch))
    model.eval().save_pretrained(out)
    tokenizer.save_pretrained(out)
    return losses
