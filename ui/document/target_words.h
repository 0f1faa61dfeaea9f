#pragma once

#include <QString>
#include <string>

#include "ui/document/compiler_facts.h"

namespace fusescope {

/// Returns the compiler that builds for the target of a plan, by its name for findCompiler(): the one that the plan was
/// made for, or else the one with that target; empty if this program has none.
std::string builderFor(const Plan& plan);

/// Returns the compiler that builds for the target of `plan` in place of our own, which only plans for it. Null: our
/// own builds for it, the plan was made for another compiler, or the compiler has not answered yet or cannot compile
/// here.
const Compiler* otherBuilder(const Plan& plan, const Compilers& compilers);

/// Returns, as sentences, that our own compiler only plans for the target of `plan`, and which compiler builds for it
/// or why none does.
QString onlyPlannedText(const Plan& plan, const Compilers& compilers);

/// Returns the backend of a segment; for a plan that our own compiler made for a target for which it does not build,
/// returns the name of the target.
QString runsOn(const Cover& cover, const Segment& segment);

/// Returns the target of what is displayed and, if our own compiler cannot build for it, which compiler can: "openvino:
/// built by openvino 2026.4.1, in ~/venv/bin/python", or what must be installed. It is plain text.
QString targetText(const Cover& cover, const Compilers& compilers);

}  // namespace fusescope
