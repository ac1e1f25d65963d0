"""The `neuscraper` labeler (Xu et al. 2024, "Cleaner Pretraining Corpus Curation with Neural Web
Scraping", https://arxiv.org/abs/2402.14652): a small transformer over the nodes of a page. The
first layer of a language model converts the text of each node to a vector."""
