// What each step of quantization does to a trained network: errors on held-out inputs against float32, and accuracy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "engine/engine.h"
#include "interchange/npz.h"
#include "session/artifact.h"
#include "session/calibrate.h"
#include "session/inputs/load_samples.h"
#include "session/open_model.h"
#include "tests/support/paths.h"

namespace fusescope::test {
namespace {

/// The first of the held-out digits calibrate, the others are what is measured on.
constexpr std::int64_t kHeldOut = 360, kCalibrating = 120, kClasses = 10;

struct Evaluation {
  double relative = 0;  ///< rms of the error over rms of float32's scores
  double right = 0;     ///< share of held-out digits
};

class Digits : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path folder = sampleFolder("digits");
    m_model = openModel(folder / "model.onnx", {{.name = "image", .fixed = Dims{kHeldOut, 1, 8, 8}}}).value();
    m_floats = makePlan(m_model, {.target = "cpu"}).value();
    m_heldOut = loadSamples(*m_floats, {.paths = {(folder / "held_out.npz").string()}}).value();
    const auto one = openModel(folder / "model.onnx", {{.name = "image", .fixed = Dims{1, 1, 8, 8}}}).value();
    m_one = makePlan(one, {.target = "cpu"}).value();
    m_samples = loadSamples(*m_one, {.paths = {(folder / "held_out.npz").string()}, .batchAxis = 0}).value();
    m_samples.list.resize(kCalibrating);
    m_exact = scores(m_floats);
    const std::string bytes = readTextFile(folder / "labels.npy").value();
    const auto labels = parseNpy(std::as_bytes(std::span(bytes)), "labels.npy", "labels");
    ASSERT_TRUE(labels.ok()) << labels.error().text();
    m_labels = labels.value();
  }

  std::vector<float> scores(const std::shared_ptr<const Plan>& plan, const std::string& backend = "reference") {
    auto engine = buildEngine(plan, {.backend = backend, .measureTactics = false});
    EXPECT_TRUE(engine.ok()) << engine.error().text();
    const auto result = engine.value()->run(m_heldOut.first());
    EXPECT_TRUE(result.ok()) << result.error().text();
    const auto data = result.value().outputs.at("scores").data<float>();
    return {data.begin(), data.end()};
  }

  Evaluation evaluate(const std::vector<float>& scores) const {
    Evaluation evaluation;
    double squares = 0, errors = 0;
    for (std::size_t i = kCalibrating * kClasses; i < scores.size(); ++i) {
      squares += std::pow(m_exact[i], 2);
      errors += std::pow(scores[i] - m_exact[i], 2);
    }
    evaluation.relative = std::sqrt(errors / squares);
    for (std::int64_t n = kCalibrating; n < kHeldOut; ++n) {
      const auto* row = scores.data() + n * kClasses;
      if (std::max_element(row, row + kClasses) - row == m_labels.asInt64(n))
        evaluation.right += 1.0 / (kHeldOut - kCalibrating);
    }
    return evaluation;
  }

  Evaluation quantised(const CalibrateOptions& calibration, PlanOptions options = {.precisions = {DataType::I8}},
                       const std::string& backend = "reference") {
    auto ranges = calibrate(*m_one, m_samples, calibration);
    EXPECT_TRUE(ranges.ok()) << ranges.error().text();
    options.ranges = std::make_shared<const Ranges>(std::move(ranges).value());
    return evaluate(scores(makePlan(m_model, options).value(), backend));
  }

  std::shared_ptr<const Model> m_model;
  std::shared_ptr<const Plan> m_floats, m_one;
  Samples m_heldOut, m_samples;
  std::vector<float> m_exact;
  Tensor m_labels;
};

TEST_F(Digits, EveryMethodKeepsTheAccuracy) {
  const double exact = evaluate(m_exact).right;
  for (const RangeMethod method :
       {RangeMethod::MinMax, RangeMethod::Percentile, RangeMethod::Entropy, RangeMethod::Mse}) {
    for (const bool symmetric : {false, true}) {
      const Evaluation int8 = quantised({.settings = {.choice = {.method = method, .symmetric = symmetric}}});
      RecordProperty(std::string(name(method)) + (symmetric ? "_symmetric" : ""), std::to_string(int8.relative));
      EXPECT_GE(int8.right, exact - 0.012) << name(method);
      EXPECT_LT(int8.relative, 0.08) << name(method);
      EXPECT_GT(int8.relative, 0.001) << "nothing was rounded";
    }
  }
}

TEST_F(Digits, IntegerKernelsAgreeWithTheReference) {
  const Evaluation reference = quantised({}), native = quantised({}, {.precisions = {DataType::I8}}, "native");
  EXPECT_NEAR(native.relative, reference.relative, 0.1 * reference.relative);
  EXPECT_NEAR(native.right, reference.right, 0.006);
}

TEST_F(Digits, ARangeForEachChannelHelps) {
  CalibrateOptions options{.settings = {.choice = {}, .perChannel = false}};
  const double one = quantised(options).relative;
  options.settings.perChannel = true;
  EXPECT_LT(quantised(options).relative, 0.9 * one);
}

TEST_F(Digits, CorrectedBiasesHelp) {
  for (const bool perChannel : {false, true}) {
    CalibrateOptions options{.settings = {.choice = {}, .perChannel = perChannel, .correctBiases = false}};
    const double before = quantised(options).relative;
    options.settings.correctBiases = true;
    EXPECT_LT(quantised(options).relative, 0.8 * before);
  }
}

TEST_F(Digits, WeightsRangesByTheirErrorAndSmoothingHelp) {
  CalibrateOptions options{.settings = {.choice = {}, .weightMethod = RangeMethod::MinMax}};
  const double all = quantised(options).relative;
  options.settings.weightMethod = RangeMethod::Mse;
  const double clamped = quantised(options).relative;
  EXPECT_LT(clamped, all);
  for (const double strength : {0.3, 0.5, 0.7}) {
    options.settings.smoothing = strength;
    EXPECT_LT(quantised(options).relative, clamped) << strength;
  }
}

TEST_F(Digits, WeightsAloneLoseLessTheFinerTheyAre) {
  const auto relative = [&](DataType type, std::int64_t block) {
    PlanOptions options;
    options.weightOnly = {type, block};
    return evaluate(scores(makePlan(m_model, options).value())).relative;
  };
  const double int8 = relative(DataType::I8, 0), int4 = relative(DataType::I4, 0), blocks = relative(DataType::I4, 8);
  EXPECT_GT(int8, 0);
  EXPECT_LT(int8, 0.005);
  EXPECT_LT(blocks, int4);
  EXPECT_LT(int8, blocks);
}

}  // namespace
}  // namespace fusescope::test
