"""Operations on an output between runs: publishing, forgetting, maintenance."""
