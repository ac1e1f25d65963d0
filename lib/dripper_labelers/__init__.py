"""Labelers from other papers (encoder, web2text, neuscraper), the labeler `reader`, and labelers
that combine others by vote."""
