#pragma once

#include <QString>

#include "probe/found_environment.h"
#include "ui/document/compiler_facts.h"
#include "ui/document/known_environments.h"

namespace fusescope {

// Texts about environments and the compilers in them.

/// Returns "Python 3.11.7 on gpubox (Linux 6.1 x86_64)", or that it is being examined, or briefly what is wrong.
QString foundWords(const KnownEnvironment& known);
/// Returns whether nothing in it can be used, because its command is not confirmed or the whole environment has a
/// problem.
bool isOfNoUse(const KnownEnvironment& known);
/// Returns "found 1.20.1" or "not installed".
QString foundWords(const FoundCompiler& compiler);
/// Returns the name for a compiler in an environment: "onnxruntime@venv".
std::string compilerIn(const std::string& compiler, const Environment& environment);
/// Returns what is known about it and what to do about a problem, as simple HTML.
QString environmentHtml(const KnownEnvironment& known);
/// Returns the same for a compiler in it. `compilers` knows the abilities of each.
QString compilerHtml(const KnownEnvironment& known, const FoundCompiler& compiler, const Compilers& compilers);
/// Returns what was found in an environment that is not in the list yet, as HTML.
QString foundHtml(const FoundEnvironment& found);

}  // namespace fusescope
