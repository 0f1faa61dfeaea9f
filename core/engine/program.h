#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "engine/kernel.h"
#include "engine/tensor_step.h"

namespace fusescope {

/// Where the bytes of a buffer are while a program runs. Boxed: no bytes are planned for it, it is a Tensor of its own,
/// for text, containers, and extents that are known only once it is made.
enum class Place { Arena, Input, Output, Constant, Boxed };

/// The first of Program::arenas.
inline constexpr std::size_t kHost = 0;

/// The memory of a program on one device.
struct Arena {
  const Device* device = nullptr;
  std::size_t bytes = 0;
};

/// A value in one form (type and format). Several buffers may share bytes: a view has the same root as its source.
struct Buffer {
  ValueId value;
  TensorDesc desc;
  Place place = Place::Arena;
  /// Input: of the graph's inputs; Output: of Program::outputs; Constant: of constants; Boxed: of the boxes.
  std::size_t index = 0;
  std::size_t within = 0;      ///< the buffer in whose bytes it lies; itself unless this is a view or a part
  std::size_t shift = 0;       ///< where it begins there, in bytes
  std::size_t device = kHost;  ///< Arena: in which of Program::arenas; the other places are the host's
  // Set by placeViews():
  std::size_t root = 0;   ///< the buffer that owns the bytes
  std::size_t begin = 0;  ///< where it begins there, in bytes
  // Set by the memory plan:
  std::size_t offset = 0;  ///< in the arena, of a root
};

/// One prepared call: of a kernel on bytes, of a node with bodies on bytes, of a dynamic step on tensors, or a copy
/// between the host and a device. The steps of one device run in order; those of different ones where they must.
struct Step {
  std::string name;   ///< of the fused node, or "x: f32 plain -> f16 plain" for a conversion
  FusedNodeId fused;  ///< invalid for a conversion or a copy
  std::string tactic;
  std::shared_ptr<const Tactic> compiledBy;  ///< what the kernel of a fused node was compiled by; else null
  bool emulated = false;
  std::shared_ptr<const Kernel> kernel;  ///< one of the four is set
  std::shared_ptr<BodyStep> body;        ///< if all its operands and results have extents and bytes
  std::shared_ptr<TensorStep> dynamic;
  std::optional<CopyDirection> copy;
  std::vector<std::size_t> inputs, outputs;  ///< buffers
  std::size_t scratchOffset = 0;             ///< in the arena
  std::vector<std::size_t> lastBoxes;        ///< boxes that nothing needs after this step
  std::size_t device = kHost;                ///< in Program::arenas: whose stream it is enqueued on
  std::vector<std::size_t> waits;            ///< steps on other streams that must be over before it begins
  bool isAwaited = false;                    ///< is among those of another step
};

/// Adds the packed weights of a step's kernels.
void addWeights(const Step& step, PackedSet& weights);

/// A tensor that a run hands out: an output of the network at its declared type, or a marked value as stored.
struct ProgramOutput {
  ValueId value;
  DataType type = DataType::Undefined;
  std::size_t buffer = 0;
  bool isMark = false;  ///< otherwise an output of the network
};

/// A fused node that costs nothing: its output is its input under other extents, or a part of it; or its inputs are
/// made where they are joined.
struct FreeView {
  FusedNodeId fused;
  std::size_t afterStep = 0;          ///< number of steps before it
  std::optional<std::size_t> buffer;  ///< that is a part of its input
};

/// A Concat whose operands are made in its output.
struct Join {
  FusedNodeId fused;
  std::shared_ptr<const Tactic> tactic;  ///< that would run it
  std::size_t output = 0;
  std::vector<std::size_t> inputs;  ///< buffers, whose roots lie in the output
  std::size_t axis = 0;
};

/// A plan lowered for concrete extents: steps in order over one arena. Only bytes change while it runs.
struct Program {
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::vector<std::size_t> inputs;  ///< buffers, as Graph::inputs
  std::vector<ProgramOutput> outputs;
  std::vector<Tensor> constants;  ///< outputs of the network that are constants
  std::size_t boxCount = 0;
  std::vector<FreeView> views;
  std::vector<Join> joins;
  std::vector<std::size_t> room;              ///< bytes of arenas for each buffer, then for each step's scratch
  std::vector<Arena> arenas{{&cpuDevice()}};  ///< one for each device, the host's first
  std::size_t arenaBytes() const;
};

/// Finds out in which buffer's bytes each one lies, and where: the roots, with their places.
void placeViews(Program& program);

/// Gives every arena buffer and scratch its offset by liveness and sets the bytes of arenas; says after which step a
/// box is not needed any more.
void planMemory(Program& program);
/// Says which steps wait for which: one that touches bytes which an earlier one on another stream writes, or writes
/// bytes which that one touches. After planMemory().
void planWaits(Program& program);

/// Offsets again, of a program of the host alone, after extents or kernels changed. Everything stays where it is while
/// it has room there; what has not gets half as much again as it needs, so that extents that grow step by step seldom
/// move anything.
void fitMemory(Program& program);

/// The most bytes that live at once in arenas, scratch left out, with inputs and outputs.
std::size_t liveBytes(const Program& program);

}  // namespace fusescope
