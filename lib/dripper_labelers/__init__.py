"""Labelers from other papers (encoder, web2text, neuscraper), the labeler `reader`, and votes by
several labelers."""
