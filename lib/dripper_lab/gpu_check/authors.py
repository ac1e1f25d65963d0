"""Runs the code that the checkpoints' authors publish, where it is installed: none of it is here.

It runs in a process that imports nothing of ours, as it wants other versions of the same packages.
"""

PULPIE = """
import json, sys
asked = json.load(sys.stdin)
from pulpie.extractor import Extractor
from pulpie.simplify import simplify
extractor = Extractor(asked["model"], **asked["options"])
pages = [simplify(html)[0] for html in asked["pages"]]
print("\\n" + json.dumps([[page, extractor._classify(page)] for page in pages]))
"""
"""pulpie 0.0.2: for each page the simplified HTML, and `main` or `other` by block."""

MINERU = """
import json, sys
asked = json.load(sys.stdin)
from mineru_html.base import MinerUHTMLGenerateInput
from mineru_html.inference.vllm_backend import VLLMInferenceBackend
from mineru_html.process.build_prompt import get_full_prompt
from mineru_html.process.parse_result import parse_llm_response
from mineru_html.process.simplify_html import simplify_html
backend = VLLMInferenceBackend(asked["model"], asked["context"], "compact")
pages = [simplify_html(html)[0] for html in asked["pages"]]
given = {str(at): MinerUHTMLGenerateInput(full_prompt=get_full_prompt(page, "short_compact"))
         for at, page in enumerate(pages)}
said, _ = backend.process(given)
print("\\n" + json.dumps([[page, parse_llm_response(said[str(at)].response) if str(at) in said else {}]
                          for at, page in enumerate(pages)]))
"""
"""mineru-html 1.1.2, for v1.1's weights: the same, by their backend on vLLM."""
