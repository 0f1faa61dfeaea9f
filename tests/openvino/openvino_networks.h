#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compilers/openvino/execution_graph.h"
#include "compilers/openvino/imported_network.h"
#include "tests/support/networks.h"
#include "tests/support/real_compiler.h"

namespace fusescope::test {

/// A network that OpenVINO compiled, and what was read back.
struct ReadNetwork {
  std::string name;
  std::shared_ptr<const Plan> plan;
  CompilerInput handed;
  Json options, answer;  ///< what it was compiled with, and what it said
  ReadBack told;
  std::shared_ptr<const ReadBackPlan> made;
  ExecutionGraph execution;  ///< from which it was read
  ImportedNetwork imported;
  double readMs = 0;
};

/// Nodes by what became of them, and by the best that is known of which kernel holds them.
struct FateCounts {
  std::size_t nodes = 0, kernels = 0, inKernels = 0, views = 0, folded = 0, removed = 0, merged = 0, notDisclosed = 0;
  std::size_t named = 0, derived = 0, guessed = 0;
};

/// Has OpenVINO compile networks.
class OpenvinoTest : public RealCompilerTest {
 protected:
  OpenvinoTest() : RealCompilerTest("openvino") {}

  /// Compiles `model` as `options` say, and reads it back. Failures are reported; nothing where OpenVINO refuses the
  /// network, in whose words `refused` is.
  std::optional<ReadNetwork> read(const std::string& name, std::shared_ptr<const Model> model, PlanOptions options = {},
                                  std::string* refused = nullptr);
};

FateCounts countsOf(const ReadNetwork& network);
std::string tableHead();
std::string tableRow(const ReadNetwork& network, const std::string& hint);

/// Returns what is wrong with what was read back, whatever the network: a node has no fate or several, a kernel cannot
/// do what one of its nodes does, a kernel reads or writes what only later ones make, a tensor has other extents than
/// its value, or a node that OpenVINO does not name is said to be named. The text is empty if nothing is wrong.
std::string problemOf(const ReadNetwork& network);

}  // namespace fusescope::test
