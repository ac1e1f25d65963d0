"""Labelers from other papers (encoder, web2text, neuscraper), the `reader` labeler, and labelers
that combine others by vote."""
