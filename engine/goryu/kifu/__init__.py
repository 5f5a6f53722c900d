"""Game records (棋譜) as people exchange them: KIF, KI2, CSA, JKF, SFEN and USI lines.

`reading.read_record` reads a file, `writing` writes one, `notation` names moves in Japanese and English.
"""
