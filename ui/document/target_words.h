#pragma once

#include <QString>
#include <string>

#include "ui/document/compiler_facts.h"

namespace fusescope {

/// Returns the compiler that builds for the target of a plan, by its name for findCompiler(): the one that the plan was
/// made for, or else the one with that target; empty if this program has none.
std::string builderFor(const Plan& plan);

/// Returns the target of what is displayed and, if our own compiler cannot build for it, which compiler can: "openvino:
/// built by openvino 2026.4.1, in ~/venv/bin/python", or what must be installed. It is plain text.
QString targetText(const Cover& cover, const Compilers& compilers);

}  // namespace fusescope
