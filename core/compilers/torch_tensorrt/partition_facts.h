#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope::torch_tensorrt {

/// The reason why an operator stays in torch.
enum class StaysFor {
  NoConverter,  ///< no converter is registered for it
  Validator,    ///< validators of its converters refused it
  OpenExtents,  ///< no converter supports open extents
  Complex,      ///< it reads or makes complex numbers
  Asked,        ///< the user excluded it
  SmallBlock,   ///< its block has too few operators for an engine
  Unknown       ///< the reason is not reported
};

/// A list of ones that a validator wrongly compares with the number 1.
struct ComparedList {
  std::vector<std::int64_t> dilation;
  bool acceptedWithNumber = false;     ///< with the number in place of the list the validator accepts it
  std::vector<std::string> elseWords;  ///< what it says instead in that case
};

/// An operator that stays in torch, and why.
struct InTorch {
  StaysFor why = StaysFor::Unknown;
  std::vector<std::string> validators{}, words{};  ///< the validators that refused it, and what they wrote into the log
  std::int64_t operators = 0;                      ///< operators in the block that is too small
  std::optional<ComparedList> compared{};
};

/// An operator of the program after Torch-TensorRT lowered it.
struct LoweredOperator {
  std::string name, target;
  std::string from;                           ///< the node of the exported program; empty: unknown
  std::vector<std::string> types{}, reads{};  ///< types of the tensors that it makes; names of those that it reads,
                                              ///< without duplicates
  bool isView = false;
  std::optional<InTorch> inTorch{};  ///< nothing: it is in an engine
};

/// An input of an engine or of a block in torch.
struct BlockInput {
  std::string from;      ///< the name of a node or of an input of the exported program
  bool isInput = false;  ///< true: the name is that of an input
  std::string type;
  bool isCast = false;  ///< it is converted before the block
};

struct PartitionBlock {
  std::string name;  ///< Torch-TensorRT's name for it; empty: it has none
  bool isEngine = false;
  std::vector<BlockInput> inputs;
  std::vector<LoweredOperator> operators;
};

/// How Torch-TensorRT partitions a program: the probe's partition.json, which resources/probe/torch_partition.py
/// describes.
struct ProgramPartition {
  std::int64_t total = 0, supported = 0;          ///< number of operators, as Torch-TensorRT counts them
  std::vector<PartitionBlock> blocks;             ///< in execution order
  std::map<std::string, Fate, std::less<>> gone;  ///< nodes of the program that lowering removed
};
Result<ProgramPartition> programPartition(std::string_view text);

}  // namespace fusescope::torch_tensorrt
