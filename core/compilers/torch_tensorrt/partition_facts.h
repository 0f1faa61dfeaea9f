#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "planning/read_back_plan.h"

namespace fusescope::torch_tensorrt {

/// Why an operator stays in torch.
enum class StaysFor {
  NoConverter,  ///< no converter is registered for it
  Validator,    ///< validators of its converters said no
  OpenExtents,  ///< no converter takes extents that are open
  Complex,      ///< it reads or makes complex numbers
  Asked,        ///< the user keeps it there
  SmallBlock,   ///< the block that it is in has too few operators for an engine
  Unknown       ///< nothing that is told says why
};

/// A list of ones that a validator compares with the number 1.
struct ComparedList {
  std::vector<std::int64_t> dilation;
  bool elseTaken = false;              ///< with the number in its place the validator says yes
  std::vector<std::string> elseWords;  ///< what it says otherwise then
};

/// An operator that stays in torch, and why.
struct InTorch {
  StaysFor why = StaysFor::Unknown;
  std::vector<std::string> validators{}, words{};  ///< that said no, and what they wrote into the log
  std::int64_t operators = 0;                      ///< of the block that is too small
  std::optional<ComparedList> compared{};
};

/// An operator of the program as Torch-TensorRT lowers it.
struct LoweredOperator {
  std::string name, target;
  std::string from;                           ///< the node of the exported program; empty: it is lost
  std::vector<std::string> types{}, reads{};  ///< of the tensors that it makes; of those that it reads, each once
  bool isView = false;
  std::optional<InTorch> inTorch{};  ///< nothing: an engine has it
};

/// What an engine or a block in torch reads.
struct BlockInput {
  std::string from;      ///< a node of the exported program, or an input of it
  bool isInput = false;  ///< it is an input
  std::string type;
  bool isCast = false;  ///< it is cast in front of the block
};

struct PartitionBlock {
  std::string name;  ///< Torch-TensorRT's own; empty: it has none
  bool isEngine = false;
  std::vector<BlockInput> inputs;
  std::vector<LoweredOperator> operators;
};

/// How Torch-TensorRT divides a program: partition.json of the probe, as resources/probe/torch_partition.py says.
struct ProgramPartition {
  std::int64_t total = 0, supported = 0;          ///< operators, by Torch-TensorRT's own count
  std::vector<PartitionBlock> blocks;             ///< in the order in which they run
  std::map<std::string, Fate, std::less<>> gone;  ///< nodes of the program that lowering left nothing of
};
Result<ProgramPartition> programPartition(std::string_view text);

}  // namespace fusescope::torch_tensorrt
