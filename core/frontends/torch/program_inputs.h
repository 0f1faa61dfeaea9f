#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "frontends/torch/exported_program.h"
#include "frontends/torch/saved_objects.h"
#include "ir/model.h"

namespace fusescope::torch {

/// InputSpec::source if min and max are from the file, and opt is the extent of the example with which the network was
/// exported.
inline constexpr const char* kFromExample = "example";

/// An argument of the author's forward(), as far as the graph reads it.
struct UserInput {
  std::string name;   ///< the author's name; inside a list or dictionary, the graph's name
  std::string value;  ///< its name in the graph
  bool isConstant = false;
  Json constant{};  ///< its value, if it was not a tensor: it is compiled into the graph
};

/// Returns the arguments in the order of forward().
std::vector<UserInput> userInputsOf(const ExportedProgram& program);

/// An axis of an input, by the input's name: ("x", 1).
using InputAxis = std::pair<std::string, std::size_t>;
/// Returns groups of input extents that must be equal: those of the same expression, and those that a guard of the
/// program equates. Each group has at least two elements.
std::vector<std::vector<InputAxis>> equalExtentsOf(const ExportedProgram& program);

/// Returns the spec of an input. Fixed extents are from the file. For others, min and max are the range for which the
/// program was exported, and opt is the extent of the example. If the file gives no bound, a decision in `decisions`
/// says what is assumed.
InputSpec inputSpecOf(const ExportedProgram& program, const UserInput& input, std::vector<Decision>& decisions);

/// Returns why `said`, the metadata of an input, does not match what the program was exported for; empty if it does.
std::string rangeMisfit(const ExportedProgram& program, const UserInput& input, const InputSpec& said);

/// Returns the tensors among the example inputs, by the names in userInputsOf(). It is an error if they are not those
/// that the graph reads.
Result<std::map<std::string, Tensor>> exampleTensors(const ExportedProgram& program, const SavedObjects& examples,
                                                     CopyBudget& budget);

}  // namespace fusescope::torch
