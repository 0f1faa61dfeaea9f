#include <algorithm>

#include "engine/program/program.h"

namespace fusescope {
namespace {

/// The bytes that a step uses, in an arena or in the tensor of an output. Inputs and constants are only read.
struct Access {
  Place place = Place::Arena;
  std::size_t index = 0;  ///< the index of the arena or of the output
  std::size_t begin = 0, end = 0;
  bool writes = false;
};

std::vector<Access> accessesOf(const Program& program, const Step& step) {
  std::vector<Access> accesses;
  const auto add = [&](std::size_t id, bool writes) {
    const Buffer& buffer = program.buffers[id];
    const Buffer& root = program.buffers[buffer.root];
    const std::size_t bytes = buffer.desc.bytes(), begin = root.offset + buffer.begin;
    if (root.place == Place::Arena) accesses.push_back({Place::Arena, root.device, begin, begin + bytes, writes});
    if (root.place == Place::Output)
      accesses.push_back({Place::Output, root.index, buffer.begin, buffer.begin + bytes, writes});
  };
  for (const std::size_t input : step.inputs) add(input, false);
  for (const std::size_t output : step.outputs) add(output, true);
  if (step.kernel != nullptr && step.kernel->workspaceBytes() > 0)
    accesses.push_back(
        {Place::Arena, step.device, step.scratchOffset, step.scratchOffset + step.kernel->workspaceBytes(), true});
  return accesses;
}

bool collide(const Access& a, const Access& b) {
  return a.place == b.place && a.index == b.index && (a.writes || b.writes) && a.begin < b.end && b.begin < a.end;
}

bool collide(const std::vector<Access>& a, const std::vector<Access>& b) {
  return std::ranges::any_of(a, [&](const Access& one) {
    return std::ranges::any_of(b, [&](const Access& other) { return collide(one, other); });
  });
}

}  // namespace

// A stream runs its work in order: after waiting for one of its steps, it is not necessary to wait for the steps
// before. Work of the host is done when it is enqueued.
void planWaits(Program& program) {
  const std::size_t devices = program.arenas.size();
  if (devices == 1) return;
  std::vector<std::vector<Access>> accesses;
  for (const Step& step : program.steps) accesses.push_back(accessesOf(program, step));
  // The number of steps that are known to be finished, by the device that waits and the device that is waited for.
  std::vector<std::size_t> over(devices * devices, 0);
  for (std::size_t later = 0; later < program.steps.size(); ++later) {
    Step& step = program.steps[later];
    std::size_t* const overFor = &over[step.device * devices];
    for (std::size_t earlier = later; earlier-- > 0;) {
      Step& other = program.steps[earlier];
      const bool isOver = earlier < overFor[other.device];
      if (other.device == step.device || other.device == kHost || isOver) continue;
      if (!collide(accesses[earlier], accesses[later])) continue;
      step.waits.push_back(earlier);
      other.isAwaited = true;
      overFor[other.device] = earlier + 1;
    }
  }
}

}  // namespace fusescope
