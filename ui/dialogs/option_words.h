#pragma once

#include <QString>

#include "base/result.h"

namespace fusescope {

/// `text` with what is an option of the command line said as the window says it: "--to trtexec" is "the format
/// trtexec".
QString withoutOptions(const QString& text);
/// What is wrong and what helps, in those words.
QString problemInWords(const Diagnostic& problem);

}  // namespace fusescope
