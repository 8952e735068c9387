# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
from typing import Optional
__version__ = '2.4.0+cpu'
cuda: Optional[str] = None
hip: Optional[str] = None
