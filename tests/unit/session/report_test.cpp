// What a report says, as a value and as HTML.
#include "session/reports/report.h"
#include "session/open_artifact.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "base/files.h"
#include "diff/diff_plans.h"
#include "session/diff_input.h"
#include "session/reports/report_html.h"
#include "session/runs/run_conditions.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

constexpr const char* kNetwork =
    "g (float[2, 4] x, float[4, 4] w) => (float[2, 4] y) { [first] a = MatMul (x, w) [second] b = MatMul (a, w) "
    "[last] y = Sigmoid (b) }";
using MadeRun = fusescope::Run;  // GoogleTest has a Run of its own
constexpr const char* kNasty = "<script>alert(\"&'x\")</script>";

class Report : public ::testing::Test {
 protected:
  Artifact artifact(const PlanOptions& options = {}) const {
    auto opened = openArtifact(m_model, {}, options);
    EXPECT_TRUE(opened.ok()) << opened.error().text();
    Artifact artifact = std::move(opened).value();
    artifact.path = "model.onnx";
    return artifact;
  }
  static PlanOptions withPins(const std::vector<std::string>& pins, std::vector<DataType> precisions) {
    PlanOptions options{.precisions = std::move(precisions)};
    for (const std::string& pin : pins) options.directives.push_back(parsePin(pin).value());
    assignIds(options.directives);
    return options;
  }
  /// A run of the artifact in which its kernels took 1, 2, … ms.
  static MadeRun runOf(const Artifact& artifact, double factor = 1) {
    MadeRun run{.id = "3", .name = "2 pins", .state = RunState::Ready, .options = artifact.plan->options};
    run.machine = "a machine";
    run.started = "2026-01-31T12:00:00Z";
    RunTime time{.medianMs = 9 * factor, .minMs = 8.5, .p95Ms = 10, .p99Ms = 11, .samples = 100, .threads = 2};
    for (const FusedNode& fused : artifact.plan->fusedNodes)
      time.layers.push_back({.name = fused.name,
                             .identity = fused.identity.hex(),
                             .types = layerTypes(*artifact.plan, fused),
                             .tactic = "jit",
                             .medianMs = factor * static_cast<double>(time.layers.size() + 1)});
    run.time = SharedOptional<RunTime>(std::move(time));
    return run;
  }
  static Evaluation failing() {
    Evaluation evaluation{.when = "2026-01-31T12:00:01Z", .inputs = {.paths = {"in.npz"}}, .tolerance = {.rms = 1e-2}};
    evaluation.outputs = {{.name = "y", .ok = false, .maxAbs = 1, .maxOverRms = 0.5, .cosine = 0.9, .ofBound = 50}};
    return evaluation;
  }

  const TemporaryFolder m_folder;
  const std::string m_model = m_folder.write("model.onnx", onnxBytes(kNetwork)).string();
};

/// Every text in it becomes another, but for those that are words of the format.
void replaceTexts(Json& json, const std::string& text) {
  if (json.is_string()) json = text;
  if (!json.is_structured()) return;
  for (auto& [key, value] : json.items())
    if (!value.is_string() || (key != "kind" && key != "how" && key != "verdict")) replaceTexts(value, text);
}

std::size_t countOf(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST_F(Report, OfAPlanIsWhatItWas) {
  const Artifact plan = artifact(withPins({"first=f32:obey", "last=f64"}, {DataType::F16}));
  ReportSide side = reportSide(plan);
  side.model = "model.onnx";
  Json report = reportJson(side, "2026-01-31T12:00:00Z");
  // Prices are this machine's.
  for (const char* key : {"predicted_ms", "predicted_measured_ms", "predicted_fitted_ms", "without_price"})
    report["run"]["totals"].erase(key);
  for (const char* list : {"kernels", "precisions", "conversions"})
    for (Json& entry : report["run"][list]) {
      entry.erase("ms");
      entry.erase("how");
    }
  std::sort(report["run"]["kernels"].begin(), report["run"]["kernels"].end(),
            [](const Json& a, const Json& b) { return a["name"] < b["name"]; });
  const std::filesystem::path golden =
      std::filesystem::path(FUSESCOPE_SOURCE_DIR) / "tests/unit/session/report_of_a_plan.json";
  const std::string now = report.dump(1) + "\n";
  const auto then = readTextFile(golden);
  EXPECT_EQ(then.ok() ? then.value() : std::string(), now);
}

TEST_F(Report, SaysWhatKernelsTakeAndHowThatIsKnown) {
  const Artifact plan = artifact();
  MadeRun run = runOf(plan);
  run.evaluations.emplace_back(failing());
  ReportSide side = reportSide(plan, &run);
  side.settings.inputs = {.paths = {"in.npz"}};
  const Json report = reportJson(side, timestamp());
  const Json& kernels = report["run"]["kernels"];
  ASSERT_EQ(kernels.size(), plan.plan->fusedNodes.size());
  EXPECT_EQ(kernels[0]["ms"], static_cast<double>(kernels.size()));
  EXPECT_EQ(kernels[0]["how"], "run");
  EXPECT_EQ(kernels[0]["tactic"], "jit");
  EXPECT_EQ(report["run"]["verdict"]["verdict"], "fail");
  const std::string html = reportHtml(report);
  for (const char* said : {"run 3, 2 pins", "a machine", "2 threads", "9.00 ms", "fails", "✗", "timed", "in.npz"})
    EXPECT_NE(html.find(said), std::string::npos) << said;
}

TEST_F(Report, WithoutARunNothingIsSaidToBeTimed) {
  const Artifact plan = artifact();
  const Json report = reportJson(reportSide(plan), timestamp());
  EXPECT_TRUE(report["run"]["time"].is_null());
  EXPECT_TRUE(report["run"]["verdict"].is_null());
  for (const Json& kernel : report["run"]["kernels"]) EXPECT_NE(kernel["how"], "run");
  EXPECT_NE(reportHtml(report).find("not timed"), std::string::npos);
}

TEST_F(Report, DifferencesAreGroupedByCauseWithTheirTimes) {
  const Artifact a = artifact(withPins({}, {DataType::F16}));
  const Artifact b = artifact(withPins({"op:MatMul=f32:obey"}, {DataType::F16}));
  const MadeRun runOfA = runOf(a), runOfB = runOf(b, 3);
  const ReportSide sideOfA = reportSide(a, &runOfA), sideOfB = reportSide(b, &runOfB);
  const auto diff = diffPlans(sideOfA.known, sideOfB.known);
  ASSERT_TRUE(diff.ok());
  const Json report = reportJson(sideOfA, sideOfB, diff.value(), timestamp());
  const Json& difference = report["difference"];
  EXPECT_FALSE(difference["same"]);
  ASSERT_FALSE(difference["changes"].empty());
  bool caused = false;
  double sum = 0;
  for (const Json& change : difference["changes"])
    for (const Json& cause : change["because"])
      caused = caused || cause.dump().find("op:MatMul=f32") != std::string::npos;
  EXPECT_TRUE(caused) << difference["changes"].dump(1);
  for (const Json& group : difference["groups"])
    sum += group["delta_ms"].is_number() ? group["delta_ms"].get<double>() : 0;
  double ofA = 0, ofB = 0;
  for (const RunLayer& layer : runOfA.time->layers) ofA += *layer.medianMs;
  for (const RunLayer& layer : runOfB.time->layers) ofB += *layer.medianMs;
  EXPECT_NEAR(sum, ofB - ofA, 1e-9);
  EXPECT_TRUE(difference["conditions_that_differ"].empty());
  const std::string html = reportHtml(report);
  EXPECT_NE(html.find("What changed, and why"), std::string::npos);
  EXPECT_NE(html.find("300.0 %"), std::string::npos);
}

TEST_F(Report, TimesOfOtherConditionsAreNotCompared) {
  const Artifact plan = artifact();
  const MadeRun a = runOf(plan);
  MadeRun b = runOf(plan, 3);
  RunTime time = *std::as_const(b.time);
  time.threads = 8;
  time.inputs = {.paths = {"other.npz"}};
  b.time = SharedOptional<RunTime>(std::move(time));
  b.machine = "another";
  EXPECT_EQ(unlikeConditions(a, b).size(), 3U);
  const ReportSide sideOfA = reportSide(plan, &a), sideOfB = reportSide(plan, &b);
  const Json report = reportJson(sideOfA, sideOfB, changesBetween(sideOfA.known, sideOfB.known), timestamp());
  const std::string html = reportHtml(report);
  EXPECT_NE(html.find("under different conditions"), std::string::npos);
  EXPECT_EQ(html.find("300.0 %"), std::string::npos);
}

TEST_F(Report, AllTextIsEscaped) {
  const Artifact a = artifact(withPins({"first=f32:obey"}, {DataType::F16})), b = artifact();
  MadeRun run = runOf(a);
  run.evaluations.emplace_back(failing());
  const ReportSide sideOfA = reportSide(a, &run), sideOfB = reportSide(b);
  const auto diff = diffPlans(sideOfA.known, sideOfB.known);
  ASSERT_TRUE(diff.ok());
  for (Json report : {reportJson(sideOfA, timestamp()), reportJson(sideOfA, sideOfB, diff.value(), timestamp())}) {
    replaceTexts(report, kNasty);
    const std::string html = reportHtml(report, std::string("<svg>") + kNasty + "</svg>");
    EXPECT_EQ(html.find("<script>alert"), std::string::npos);
    EXPECT_EQ(html.find("alert(\""), std::string::npos);
    EXPECT_GT(countOf(html, "&lt;script&gt;alert(&quot;&amp;&#39;x&quot;)&lt;/script&gt;"), 10U);
  }
}

TEST_F(Report, IsOneFileThatFetchesNothing) {
  const Artifact plan = artifact();
  const std::string html = reportHtml(reportJson(reportSide(plan), timestamp()), "<svg xmlns=\"x\"/>");
  for (const char* fetched : {"http://", "https://", "<link", "@import", "src=\"/"})
    EXPECT_EQ(html.find(fetched), std::string::npos) << fetched;
  EXPECT_NE(html.find("data:image/svg+xml"), std::string::npos);
  EXPECT_NE(html.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_NE(html.find("@media print"), std::string::npos);
  EXPECT_EQ(countOf(html, "<table"), countOf(html, "<caption>"));
  EXPECT_EQ(countOf(html, "<tr>"), countOf(html, "</tr>"));
}

}  // namespace
}  // namespace fusescope::test
