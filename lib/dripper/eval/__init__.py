"""How well extractors do: metrics, peers, statistics, the report. Nothing here is needed to extract."""
