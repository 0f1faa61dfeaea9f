#include "engine/kernels/input_check.h"
#include "interchange/npz.h"
#include "tests/unit/engine/engine_fixture.h"
#include "verify/compare_tensors.h"

namespace fusescope::testing {
namespace {

struct SampleCase {
  std::string sample;
  std::string backend;
};

void PrintTo(const SampleCase& sample, std::ostream* out) {
  *out << sample.sample << " on " << sample.backend;
}

class Samples : public ::testing::TestWithParam<SampleCase> {};

std::map<std::string, Tensor> arraysOf(const std::string& sample, const std::string& prefix,
                                       const std::vector<std::string>& names) {
  const auto path = std::filesystem::path(FUSESCOPE_SOURCE_DIR) / "resources/samples" / sample / "io.npz";
  const auto arrays = readNpz(path);
  if (!arrays.ok()) throw std::runtime_error(arrays.error().text());
  std::map<std::string, Tensor> found;
  for (const std::string& name : names) {
    const auto prefixed = arrays.value().find(prefix + name), plain = arrays.value().find(name);
    if (prefixed != arrays.value().end())
      found[name] = prefixed->second;
    else if (plain != arrays.value().end())
      found[name] = plain->second;
  }
  return found;
}

std::vector<std::string> namesOf(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<std::string> names;
  for (const ValueId value : values) names.push_back(graph.value(value).name);
  return names;
}

TEST_P(Samples, ComputeWhatTheirFilesExpectAlsoAfterSaving) {
  const SampleCase& given = GetParam();
  const auto model = sampleModel(given.sample);
  const auto inputs = arraysOf(given.sample, "in:", namesOf(*model->graph, model->graph->inputs()));
  const auto expected = arraysOf(given.sample, "out:", namesOf(*model->graph, model->graph->outputs()));
  ASSERT_FALSE(expected.empty());
  const auto engine = engineOf(planOf(model), {.backend = given.backend, .threads = 1, .measureTactics = false});
  const auto result = engine->run(inputs);
  ASSERT_TRUE(result.ok()) << result.error().text();
  for (const auto& comparison : compareAll(result.value().outputs, expected, {.absolute = 1e-4, .relative = 1e-3}))
    EXPECT_TRUE(comparison.ok) << comparison.name << " " << comparison.maxAbs << " " << comparison.problem;

  const TemporaryFolder folder;
  const Status saved = engine->save(folder / "e.fse");
  ASSERT_TRUE(saved.ok()) << saved.error().text();
  auto loaded = loadEngine(folder / "e.fse", {.threads = 1, .measureTactics = false});
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  const auto again = loaded.value()->run(inputs);
  ASSERT_TRUE(again.ok()) << again.error().text();
  for (const auto& [name, tensor] : result.value().outputs)
    EXPECT_TRUE(again.value().outputs.at(name).identical(tensor)) << name;
}

std::vector<SampleCase> allCases() {
  std::vector<SampleCase> cases;
  for (const char* sample :
       {"bert_tiny", "squeezenet1_1", "tiny_resnet_dynbatch", "long_double", "fp16_overflow", "moe_dense"})
    for (const char* backend : {"reference", "native"}) cases.push_back({sample, backend});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Every, Samples, ::testing::ValuesIn(allCases()),
                         [](const auto& info) { return info.param.sample + "_" + info.param.backend; });

TEST(EngineSamples, EqualExpertsAreBuiltOnce) {
  const auto engine = engineOf(planOf(sampleModel("moe_dense")), {.backend = "reference", .threads = 1});
  const BuildReport& report = engine->report();
  EXPECT_LT(report.distinct * 2, report.regions) << report.distinct << " of " << report.regions;
  std::int64_t told = 0;
  for (const Decision& decision : report.decisions) told += decision.code == "cache.same_structure" ? 1 : 0;
  EXPECT_EQ(told, report.regions - report.distinct);
}

}  // namespace
}  // namespace fusescope::testing
