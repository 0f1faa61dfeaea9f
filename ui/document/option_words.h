#pragma once

#include <QString>

#include "base/result.h"
#include "ir/decision.h"
#include "planning/plan.h"

namespace fusescope {

/// `text` with what is an option of the command line said as the window says it: "--to trtexec" is "the format
/// trtexec".
QString withoutOptions(const QString& text);
/// What was decided, in those words.
QString inWindowWords(const Decision& decision);
/// What would help, in those words: "pin conv to f32"; of a directive that is there, to be without it.
QString inWindowWords(const WhatIf& whatIf);
/// Whether it is a directive, which the window can add or take away. Otherwise it is an edit of the network.
bool canBeDone(const WhatIf& whatIf);
/// What is wrong and what helps, in those words.
QString problemInWords(const Diagnostic& problem);
/// The same behind its place: "file: node 'n': …".
QString problemText(const Diagnostic& problem);

}  // namespace fusescope
