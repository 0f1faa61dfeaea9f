#pragma once

#include <QString>

#include "ui/document/compiler_facts.h"
#include "ui/document/environments.h"

namespace fusescope {

// What is known of environments and of the compilers in them, in words for people.

/// "Python 3.11.7 on gpubox (Linux 6.1 x86_64)", that it is being looked at, or in few words what is wrong.
QString foundWords(const KnownEnvironment& known);
/// Whether nothing in it can be used: its command is not confirmed, or it has a problem as a whole.
bool isOfNoUse(const KnownEnvironment& known);
/// "found 1.20.1", "not installed"
QString foundWords(const FoundCompiler& compiler);
/// "onnxruntime@venv": how a compiler in an environment is asked for.
std::string compilerIn(const std::string& compiler, const Environment& environment);
/// What is known of it and what to do about what is wrong, as HTML of plain elements.
QString environmentHtml(const KnownEnvironment& known);
/// The same of a compiler in it. `compilers` know what each can and cannot.
QString compilerHtml(const KnownEnvironment& known, const FoundCompiler& compiler, const Compilers& compilers);
/// What was found in one that is not in the list yet, as HTML.
QString foundHtml(const FoundEnvironment& found);

}  // namespace fusescope
