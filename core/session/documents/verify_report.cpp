#include "session/documents/verify_report.h"

#include <fmt/format.h>

#include "base/files.h"
#include "frontends/onnx_writer.h"
#include "interchange/npz.h"
#include "ir/graph.h"
#include "planning/directives_file.h"

namespace fusescope {
namespace {

Json textOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json tacticJson(const TacticCheck& tactic) {
  return {{"name", tactic.name},
          {"ok", tactic.ok},
          {"max_over_rms", jsonNumber(tactic.maxOverRms)},
          {"worst_case", textOrNull(tactic.worstCase)},
          {"is_wide", tactic.isWide},
          {"note", tactic.note.empty() ? Json(nullptr) : Json(tactic.note)}};
}

Json regionJson(const RegionVerdict& region) {
  Json json = {{"fused_node", region.fusedNode},
               {"ok", region.ok},
               {"max_over_rms", jsonNumber(region.maxOverRms)},
               {"same_as", textOrNull(region.sameAs)},
               {"not_checked", textOrNull(region.notChecked)},
               {"tactics", Json::array()}};
  for (const TacticCheck& tactic : region.tactics) json["tactics"].push_back(tacticJson(tactic));
  return json;
}

Json mismatchJson(const Mismatch& mismatch, const Reproducer* reproducer) {
  const RegionFailure& failure = mismatch.smallest ? mismatch.smallest->failure : mismatch.failure;
  Json json = {{"fused_node", mismatch.fusedNode},
               {"nodes", Json::array()},
               {"tactic", failure.tactic},
               {"case", mismatch.failure.caseName},
               {"output", failure.output},
               {"what", failure.what},
               {"reproducer", nullptr}};
  if (mismatch.smallest) json["nodes"] = mismatch.smallest->nodes;
  if (reproducer != nullptr)
    json["reproducer"] = {{"model", reproducer->model.string()},
                          {"inputs", reproducer->inputs.string()},
                          {"directives", reproducer->directives.string()},
                          {"command", reproducer->command}};
  return json;
}

}  // namespace

Result<Reproducer> writeReproducer(const Mismatch& mismatch, const VerifyOptions& options,
                                   const std::filesystem::path& folder) {
  if (!mismatch.smallest)
    return Diagnostic{.message = "its nodes are right as a network of their own, so there is nothing to write",
                      .where = {.node = mismatch.fusedNode}};
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Diagnostic{.message = error.message(), .where = {.file = folder.string()}};
  const Plan& plan = *mismatch.smallest->part.plan;
  Reproducer made{folder / "mismatch.onnx", folder / "mismatch.npz", folder / "mismatch.json", {}};
  TRY(writeFileAtomically(made.model, TRY(onnxBytes(plan.graph()))));
  TRY(writeNpz(made.inputs, mismatch.smallest->inputs));
  TRY(writeFileAtomically(made.directives, toJson(directivesFileOf(plan.options)).dump(2) + "\n"));
  made.command = fmt::format("fusescope verify {} --inputs {} --directives {} --backend {}", made.model.string(),
                             made.inputs.string(), made.directives.string(), options.backend);
  return made;
}

Json toJson(const VerifyReport& report, const Samples& samples, const VerifyOptions& options,
            const Reproducer* reproducer) {
  Json json = {{"format", "fusescope.verify"}, {"version", 1}, {"ok", report.ok()}};
  addSamples(json, samples);
  json["backend"] = options.backend;
  json["seeds"] = options.seeds;
  json["regions"] = Json::array();
  for (const RegionVerdict& region : report.regions) json["regions"].push_back(regionJson(region));
  json["mismatch"] = report.mismatch ? mismatchJson(*report.mismatch, reproducer) : Json(nullptr);
  return json;
}

}  // namespace fusescope
