#include "session/documents/memory_report.h"

#include "base/json_fields.h"

namespace fusescope {
namespace {

Json pieceJson(const MemoryTimeline::Piece& piece) {
  return {{"name", piece.name},
          {"bytes", piece.bytes},
          {"first", piece.first},
          {"last", piece.last},
          {"scratch", piece.isScratch}};
}

Result<MemoryTimeline::Step> memoryStepFromJson(const Json& json) {
  MemoryTimeline::Step step;
  JsonFields fields(json);
  fields.require("name").read("name", step.name).read("identity", step.identity);
  return fields.result(std::move(step));
}

Result<MemoryTimeline::Piece> pieceFromJson(const Json& json) {
  MemoryTimeline::Piece piece;
  std::int64_t first = 0, last = 0;
  JsonFields fields(json);
  fields.require("name").read("name", piece.name).read("bytes", piece.bytes).read("scratch", piece.isScratch);
  fields.read("first", first).read("last", last);
  piece = TRY(fields.result(std::move(piece)));
  if (first < 0 || last < first || piece.bytes < 0)
    return Diagnostic{.message = "its steps or bytes are impossible", .where = {.value = piece.name}};
  piece.first = static_cast<std::size_t>(first);
  piece.last = static_cast<std::size_t>(last);
  return piece;
}

}  // namespace

Json toJson(const MemoryTimeline& memory) {
  Json json = {{"arena_bytes", memory.arenaBytes},
               {"caller_bytes", memory.callerBytes},
               {"boxed", memory.boxed},
               {"holders", memory.holders}};
  json["steps"] = json["pieces"] = Json::array();
  for (const MemoryTimeline::Step& step : memory.steps)
    json["steps"].push_back({{"name", step.name}, {"identity", step.identity}});
  for (const MemoryTimeline::Piece& piece : memory.pieces) json["pieces"].push_back(pieceJson(piece));
  return json;
}

Result<MemoryTimeline> memoryTimelineFromJson(const Json& json) {
  MemoryTimeline memory;
  JsonFields fields(json);
  fields.read("arena_bytes", memory.arenaBytes).read("caller_bytes", memory.callerBytes);
  fields.read("boxed", memory.boxed).read("holders", memory.holders);
  fields.parseList("steps", memory.steps, memoryStepFromJson).parseList("pieces", memory.pieces, pieceFromJson);
  memory = TRY(fields.result(std::move(memory)));
  for (const MemoryTimeline::Piece& piece : memory.pieces)
    if (piece.last >= memory.steps.size())
      return Diagnostic{.message = "it is present at a step that does not exist", .where = {.value = piece.name}};
  return memory;
}

Json memoryJson(const MemoryTimeline& memory) {
  Json json = toJson(memory);
  const std::vector<std::int64_t> taken = memory.usedBytes();
  for (std::size_t step = 0; step < taken.size(); ++step) json["steps"][step]["taken_bytes"] = taken[step];
  json["peak"] = nullptr;
  if (taken.empty()) return json;
  const std::size_t peak = peakOf(taken);
  Json pieces = Json::array();
  for (const MemoryTimeline::Piece* piece : memory.at(peak)) pieces.push_back(pieceJson(*piece));
  json["peak"] = {
      {"step", peak}, {"name", memory.steps[peak].name}, {"bytes", taken[peak]}, {"pieces", std::move(pieces)}};
  return json;
}

}  // namespace fusescope
