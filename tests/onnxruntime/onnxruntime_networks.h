#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "compilers/onnxruntime/reading.h"
#include "tests/support/networks.h"
#include "tests/support/real_compiler.h"

namespace fusescope::test {

/// A network that ONNX Runtime compiled, and what was read back.
struct ReadNetwork {
  std::string name, level;
  std::shared_ptr<const Plan> plan;
  CompilerInput handed;
  std::unique_ptr<onnxruntime::Reading> reading;  ///< without numbers
  ReadBack told;                                  ///< verified
  std::int64_t kernels = 0, compared = 0, equal = 0;
  double compileMs = 0, readMs = 0, verifyMs = 0;
};

/// Nodes of the handed network by what became of them.
struct FateCounts {
  std::int64_t nodes = 0, live = 0, inKernels = 0, folded = 0, removed = 0, merged = 0, view = 0, notDisclosed = 0;
  std::int64_t verified = 0, named = 0, derived = 0, guessed = 0;
};

/// Has ONNX Runtime compile networks.
class OnnxRuntimeTest : public RealCompilerTest {
 protected:
  OnnxRuntimeTest() : RealCompilerTest("onnxruntime") {}

  /// Compiles `model` at `level`, planned in these types, and reads it back; verified on inputs. Failures are
  /// reported; nothing where ONNX Runtime refuses the network, in whose words `refused` is.
  std::optional<ReadNetwork> read(const std::string& name, std::shared_ptr<const Model> model, const std::string& level,
                                  const std::vector<DataType>& precisions = {}, std::string* refused = nullptr);
  /// From now on inputs are those of this archive; empty: random ones.
  void useInputs(std::filesystem::path archive) { m_inputs = std::move(archive); }

 private:
  std::filesystem::path m_inputs;
};

FateCounts countsOf(const ReadNetwork& network);
std::string tableHead();
std::string tableRow(const ReadNetwork& network);

/// What is wrong with what was read back, whatever the network: a node with no fate or several, a binding whose extents
/// do not agree, a kernel that cannot calculate one of its nodes; empty: nothing.
std::string problemOf(const ReadNetwork& network);

}  // namespace fusescope::test
