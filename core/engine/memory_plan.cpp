#include <algorithm>

#include "analysis/liveness.h"
#include "engine/program.h"

namespace fusescope {
namespace {

constexpr std::size_t kNoLife = SIZE_MAX;

/// Extends the life of the bytes that `buffer` stands on to step `step`.
void touch(std::vector<BufferLife>& lives, const Program& program, std::size_t buffer, std::size_t step) {
  BufferLife& life = lives[program.buffers[buffer].root];
  if (life.first == kNoLife) life.first = step;
  life.last = std::max(life.last, step);
}

}  // namespace

void planMemory(Program& program) {
  const std::size_t bufferCount = program.buffers.size();
  std::vector<BufferLife> lives(bufferCount + program.steps.size(), BufferLife{.first = kNoLife});
  for (std::size_t step = 0; step < program.steps.size(); ++step) {
    for (const std::size_t buffer : program.steps[step].outputs) touch(lives, program, buffer, step);
    for (const std::size_t buffer : program.steps[step].inputs) touch(lives, program, buffer, step);
    lives[bufferCount + step] = {program.steps[step].kernel->scratchBytes(), step, step};
  }
  for (std::size_t i = 0; i < bufferCount; ++i) {
    const Buffer& buffer = program.buffers[i];
    const bool needsBytes = buffer.place == Place::Arena && buffer.root == i && lives[i].first != kNoLife;
    if (needsBytes) lives[i].bytes = std::max<std::size_t>(buffer.desc.bytes(), 1);
    if (lives[i].first == kNoLife) lives[i].first = 0;
  }
  const ArenaPlan arena = planArena(lives);
  for (std::size_t i = 0; i < bufferCount; ++i) program.buffers[i].offset = arena.offsets[program.buffers[i].root];
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    program.steps[i].scratchOffset = arena.offsets[bufferCount + i];
  program.arenaBytes = arena.bytes;
}

}  // namespace fusescope
