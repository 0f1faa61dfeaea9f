#pragma once

#include <QString>
#include <string>

#include "ui/document/compiler_facts.h"

namespace fusescope {

/// The compiler that builds for the target of a plan, by the name that findCompiler() takes: the one that the plan is
/// made for, else the one whose target it is; empty where this program has none.
std::string builderFor(const Plan& plan);

/// The target of what is shown and, where our own compiler cannot build for it, who can: "openvino: built by openvino
/// 2026.4.1, in ~/venv/bin/python", or what has to be installed. Plain text.
QString targetText(const Cover& cover, const Compilers& compilers);

}  // namespace fusescope
