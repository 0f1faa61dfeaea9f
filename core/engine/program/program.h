#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "engine/kernels/kernel.h"
#include "engine/kernels/tensor_step.h"

namespace fusescope {

/// Says where the bytes of a buffer are while a program runs. Boxed: no bytes are planned for the value; it is a
/// separate Tensor. This is used for text, containers, and extents that are known only once the value is made.
enum class Place { Arena, Input, Output, Constant, Boxed };

/// The index of the host's arena in Program::arenas.
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
  /// The index of the place: among the graph's inputs (Input), Program::outputs (Output), constants (Constant) or boxes
  /// (Boxed).
  std::size_t index = 0;
  std::size_t within = 0;      ///< the buffer that contains it; itself unless it is a view or a part
  std::size_t shift = 0;       ///< its offset in that buffer, in bytes
  std::size_t device = kHost;  ///< for Arena, the index in Program::arenas; other places are always on the host
  // Set by placeViews():
  std::size_t root = 0;   ///< the buffer that owns the bytes
  std::size_t begin = 0;  ///< its offset in the root, in bytes
  // Set by the memory plan:
  std::size_t offset = 0;  ///< for a root, its offset in the arena
};

/// One prepared call: a kernel on bytes, a node with bodies on bytes, a dynamic step on tensors, or a copy between the
/// host and a device. The steps of one device run in order; steps of different devices wait for each other only where
/// `waits` says so.
struct Step {
  std::string name;   ///< the name of the fused node, or "x: f32 plain -> f16 plain" for a conversion
  FusedNodeId fused;  ///< invalid for a conversion or a copy
  std::string tactic;
  std::shared_ptr<const Tactic> compiledBy;  ///< the tactic that the kernel of a fused node was compiled with; null for
                                             ///< other steps
  bool emulated = false;
  std::shared_ptr<const Kernel> kernel;  ///< exactly one of kernel, body, dynamic and copy is set
  std::shared_ptr<BodyStep> body;        ///< used if all operands and results have known extents and bytes
  std::shared_ptr<TensorStep> dynamic;
  std::optional<CopyDirection> copy;
  std::vector<std::size_t> inputs, outputs;  ///< indices of buffers
  std::size_t scratchOffset = 0;             ///< offset in the arena
  std::vector<std::size_t> lastBoxes;        ///< boxes that no step needs after this one
  std::size_t device = kHost;                ///< the index in Program::arenas; the step is put on the stream of this
                                             ///< device
  std::vector<std::size_t> waits;            ///< steps on other streams that must have finished before it begins
  bool isAwaited = false;                    ///< another step waits for it
};

/// Adds the packed weights of the kernels of a step.
void addWeights(const Step& step, PackedSet& weights);

/// A tensor that a run hands out: an output of the network at its declared type, or a marked value as stored.
struct ProgramOutput {
  ValueId value;
  DataType type = DataType::Undefined;
  std::size_t buffer = 0;
  bool isMark = false;  ///< otherwise an output of the network
};

/// A fused node without a step: its output is its input with other extents, or a part of it; or it joins inputs that
/// are written directly into its output.
struct FreeView {
  FusedNodeId fused;
  std::size_t afterStep = 0;          ///< number of steps that run before it
  std::optional<std::size_t> buffer;  ///< the buffer that is a part of its input
};

/// A Concat whose operands are written directly into its output.
struct Join {
  FusedNodeId fused;
  std::shared_ptr<const Tactic> tactic;  ///< the tactic that would run it
  std::size_t output = 0;
  std::vector<std::size_t> inputs;  ///< buffers, whose roots are in the output
  std::size_t axis = 0;
};

/// A plan that was lowered for concrete extents: steps in order over its arenas. Only the bytes of values change while
/// it runs.
struct Program {
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::vector<std::size_t> inputs;  ///< indices of buffers, in the order of Graph::inputs
  std::vector<ProgramOutput> outputs;
  std::vector<Tensor> constants;  ///< outputs of the network that are constants
  std::size_t boxCount = 0;
  std::vector<FreeView> views;
  std::vector<Join> joins;
  std::vector<std::size_t> room;              ///< bytes of arenas that are reserved for each buffer, then for the
                                              ///< scratch of each step
  std::vector<Arena> arenas{{&cpuDevice()}};  ///< one for each device; the host's is the first
  std::size_t arenaBytes() const;
};

/// Computes for each buffer which buffer owns its bytes (the root), and its offset there.
void placeViews(Program& program);

/// Assigns an offset to every arena buffer and scratch by liveness, and sets the sizes of arenas. Also determines after
/// which step each box is no longer needed.
void planMemory(Program& program);
/// Determines which steps wait for which: a step that accesses bytes which an earlier step on another stream writes, or
/// writes bytes which that step accesses. Must be called after planMemory().
void planWaits(Program& program);

/// Assigns offsets again after extents or kernels changed, for a program that runs only on the host. A buffer stays
/// where it is while its room suffices; a buffer that is moved gets half as much again as it needs, so that extents
/// that grow step by step rarely move anything.
void fitMemory(Program& program);

/// Returns the largest number of bytes that are live in arenas at the same time, without scratch, with inputs and
/// outputs.
std::size_t liveBytes(const Program& program);

}  // namespace fusescope
