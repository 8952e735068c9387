// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_PYTHON_SESSION_ANSWERS_H_
#define GPUWHY_READER_PYTHON_SESSION_ANSWERS_H_

#include <string_view>

#include "reader/reader.h"

namespace gpuwhy::python_session {

// An expression whose answer is a fact: torch.cuda.is_available(), tf.config.list_physical_devices('GPU') ...
// Expressions come without blanks and with ' as quote (see Printed).
bool IsQuestion(std::string_view expression);

// Pushes what `value` (as Python prints it) says about the expression. False when it cannot be its value.
bool Answer(std::string_view expression, std::string_view value, const TextLine& line, EvidenceSink& sink);

// torch.version.cuda is None in a build without CUDA, and an interactive session shows nothing for None.
bool NothingIsAnAnswer(std::string_view expression);

// `key: value` as people label their prints ("CUDA available", "torch.version.cuda"): the expression that the label
// stands for, "" when it stands for none. Any case, with or without a question mark.
std::string_view ExpressionOfLabel(std::string_view label);

}  // namespace gpuwhy::python_session

#endif  // GPUWHY_READER_PYTHON_SESSION_ANSWERS_H_
