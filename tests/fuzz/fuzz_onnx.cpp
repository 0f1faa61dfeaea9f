// An ONNX file of any bytes is refused in words, or gives a model that is prepared and planned soundly or refused.

#include "frontends/importers.h"
#include "passes/pipelines.h"
#include "planning/plan.h"
#include "tests/fuzz/fuzz_support.h"

using namespace fusescope;

namespace {

void plan(const std::shared_ptr<const Model>& model, const char* target) {
  PlanOptions options;
  options.target = target;
  const auto planned = makePlan(model, options);
  if (!planned.ok()) return;
  if (const auto sound = verifyPlan(*planned.value()); !sound.ok())
    fuzz::report("a plan passes the verifier", sound.error().text());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto path = fuzz::asFile({data, size}, ".onnx");
  auto imported = importModel(path, {.nodes = 10'000, .tensorBytes = 1 << 24, .subgraphDepth = 8});
  if (!imported.ok()) {
    if (imported.error().where.file.empty()) fuzz::report("a refusal names the file", imported.error().text());
    return 0;
  }
  auto prepared = prepareModel(std::move(imported).value());
  if (!prepared.ok()) return 0;
  const auto model = std::make_shared<const Model>(std::move(prepared).value());
  plan(model, "cpu");
  plan(model, "tensorrt-10");
  return 0;
}
