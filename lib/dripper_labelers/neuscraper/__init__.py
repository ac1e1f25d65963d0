"""The labeler `neuscraper` (Xu et al. 2024, "Cleaner Pretraining Corpus Curation with Neural Web
Scraping", https://arxiv.org/abs/2402.14652): a small transformer over a page's nodes. A node's
vector comes from its text through the first layer of a language model."""
