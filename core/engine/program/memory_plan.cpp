#include <algorithm>
#include <optional>
#include <span>

#include "engine/program/memory_lives.h"

namespace fusescope {
namespace {

constexpr std::size_t kNoLife = SIZE_MAX;

/// Extends the life of the bytes that `buffer` uses to step `step`.
void touch(std::vector<BufferLife>& lives, const Program& program, std::size_t buffer, std::size_t step) {
  BufferLife& life = lives[program.buffers[buffer].root];
  if (life.first == kNoLife) life.first = step;
  life.last = std::max(life.last, step);
}

/// Drops each box that the run makes and does not return after the last step that uses it.
void planBoxes(Program& program) {
  std::vector<std::size_t> last(program.boxCount, kNoLife);
  std::vector<bool> stays(program.boxCount, false);
  const auto boxOf = [&](std::size_t buffer) -> std::optional<std::size_t> {
    if (program.buffers[buffer].place != Place::Boxed) return std::nullopt;
    return program.buffers[buffer].index;
  };
  for (const std::size_t input : program.inputs)
    if (const auto box = boxOf(input)) stays[*box] = true;
  for (const ProgramOutput& output : program.outputs)
    if (const auto box = boxOf(output.buffer)) stays[*box] = true;
  for (std::size_t step = 0; step < program.steps.size(); ++step) {
    for (const std::size_t buffer : program.steps[step].outputs)
      if (const auto box = boxOf(buffer)) last[*box] = step;
    for (const std::size_t buffer : program.steps[step].inputs)
      if (const auto box = boxOf(buffer)) last[*box] = step;
  }
  for (std::size_t box = 0; box < last.size(); ++box)
    if (!stays[box] && last[box] != kNoLife) program.steps[last[box]].lastBoxes.push_back(box);
}

/// Returns the largest sum of bytes of `lives` at one step.
std::size_t mostAtOnce(std::span<const BufferLife> lives, std::size_t steps) {
  std::vector<std::size_t> begin(steps + 1), end(steps + 1);
  for (const BufferLife& life : lives) {
    if (life.bytes == 0) continue;
    begin[life.first] += life.bytes;
    end[life.last] += life.bytes;
  }
  std::size_t now = 0, most = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    now += begin[step];
    most = std::max(most, now);
    now -= end[step];
  }
  return most;
}

/// Returns the bytes of the arena that a buffer needs.
std::size_t neededBy(const Program& program, std::size_t i) {
  const Buffer& buffer = program.buffers[i];
  const bool isInArena = buffer.place == Place::Arena && buffer.root == i;
  return isInArena ? std::max<std::size_t>(buffer.desc.bytes(), 1) : 0;
}

std::size_t scratchOf(const Step& step) {
  return step.kernel != nullptr ? step.kernel->workspaceBytes() : 0;
}

/// Returns the lives of the buffers, followed by those of the steps' scratch memory.
std::vector<BufferLife> livesOf(const Program& program) {
  std::vector<BufferLife> lives(program.buffers.size(), BufferLife{.first = kNoLife});
  for (std::size_t step = 0; step < program.steps.size(); ++step) {
    for (const std::size_t buffer : program.steps[step].outputs) touch(lives, program, buffer, step);
    for (const std::size_t buffer : program.steps[step].inputs) touch(lives, program, buffer, step);
  }
  for (std::size_t step = 0; step < program.steps.size(); ++step) lives.push_back({0, step, step});
  return lives;
}

void setBytes(BufferLife& life, std::size_t bytes) {
  life.bytes = life.first == kNoLife ? 0 : bytes;
}

/// Gives the buffers and scratch memory of one device their places in its arena. Their sizes are in `program.room`.
/// `lives` is the result of livesOf().
void placeIn(Program& program, std::size_t device, std::vector<BufferLife> lives) {
  const std::size_t bufferCount = program.buffers.size();
  const auto deviceOf = [&](std::size_t i) {
    return i < bufferCount ? program.buffers[i].device : program.steps[i - bufferCount].device;
  };
  for (std::size_t i = 0; i < lives.size(); ++i) setBytes(lives[i], deviceOf(i) == device ? program.room[i] : 0);
  const ArenaPlan arena = planArena(lives);
  program.arenas[device].bytes = arena.bytes;
  for (Buffer& buffer : program.buffers)
    if (buffer.device == device) buffer.offset = arena.offsets[buffer.root];
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (program.steps[i].device == device) program.steps[i].scratchOffset = arena.offsets[bufferCount + i];
}

void placeAll(Program& program) {
  const std::vector<BufferLife> lives = livesOf(program);
  for (std::size_t device = 0; device < program.arenas.size(); ++device) placeIn(program, device, lives);
}

}  // namespace

void planMemory(Program& program) {
  for (std::size_t i = 0; i < program.buffers.size(); ++i) program.room.push_back(neededBy(program, i));
  for (const Step& step : program.steps) program.room.push_back(scratchOf(step));
  placeAll(program);
  planBoxes(program);
}

void fitMemory(Program& program) {
  bool fits = true;
  const auto fit = [&](std::size_t& room, std::size_t needed) {
    if (needed <= room) return;
    room = needed + needed / 2;
    fits = false;
  };
  const std::size_t bufferCount = program.buffers.size();
  for (std::size_t i = 0; i < bufferCount; ++i) fit(program.room[i], neededBy(program, i));
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    fit(program.room[bufferCount + i], scratchOf(program.steps[i]));
  if (!fits) placeAll(program);
}

std::size_t bytesOfCaller(const Program& program) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    if (buffer.root == i && (buffer.place == Place::Input || buffer.place == Place::Output))
      bytes += buffer.desc.bytes();
  }
  return bytes;
}

std::vector<BufferLife> arenaLives(const Program& program) {
  std::vector<BufferLife> lives = livesOf(program);
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const bool isScratch = i >= program.buffers.size();
    setBytes(lives[i], isScratch ? scratchOf(program.steps[i - program.buffers.size()]) : neededBy(program, i));
  }
  return lives;
}

std::size_t liveBytes(const Program& program) {
  std::vector<BufferLife> lives = arenaLives(program);
  lives.resize(program.buffers.size());
  return mostAtOnce(lives, program.steps.size()) + bytesOfCaller(program);
}

}  // namespace fusescope
