#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "frontends/torch/exported_program.h"
#include "frontends/torch/saved_objects.h"
#include "ir/model.h"

namespace fusescope::torch {

/// Model's InputSpec::source where the least and the most that an extent may be are the file's, and its opt is the
/// extent of the example that the network was exported with.
inline constexpr const char* kFromExample = "example";

/// An argument of the author's forward(), as far as the graph reads it.
struct UserInput {
  std::string name;   ///< the author's; of one within a list or dictionary the graph's
  std::string value;  ///< its name in the graph
  bool isConstant = false;
  Json constant{};  ///< its value, where it was no tensor: it is compiled into the graph
};

/// In the order of forward().
std::vector<UserInput> userInputsOf(const ExportedProgram& program);

/// "x", 1: an axis of an input, by the input's name.
using InputAxis = std::pair<std::string, std::size_t>;
/// Which extents of inputs must be equal: those of one expression, and those that a guard of the program equates. Each
/// group has at least two.
std::vector<std::vector<InputAxis>> equalExtentsOf(const ExportedProgram& program);

/// The spec of an input: fixed extents from the file; of others the range that the program was exported for, and as opt
/// the extent of the example. Where the file has no bound, `decisions` says what is assumed.
InputSpec inputSpecOf(const ExportedProgram& program, const UserInput& input, std::vector<Decision>& decisions);

/// Why `said`, what metadata say of an input, is not what the program was exported for; empty: it is.
std::string rangeMisfit(const ExportedProgram& program, const UserInput& input, const InputSpec& said);

/// The tensors among the example inputs, by the names of userInputsOf(). Errors: they are others than the graph reads.
Result<std::map<std::string, Tensor>> exampleTensors(const ExportedProgram& program, const SavedObjects& examples,
                                                     CopyBudget& budget);

}  // namespace fusescope::torch
