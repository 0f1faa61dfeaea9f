// What an export says of pins that do not hold, of the target that the plan was made for, and of its limits.
#include "interchange/exports.h"

#include <gtest/gtest.h>

#include <sstream>

#include "interchange/export_notes.h"
#include "tests/unit/interchange/holds.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::holds;
using testing::ModelBuilder;
using testing::pin;
using testing::planned;

/// relu on f32, then a Det that falls back everywhere.
std::shared_ptr<const Model> model() {
  ModelBuilder b;
  const ValueId relu = b.node("Relu", "relu", {b.input("x", {2, 4, 4})}, {2, 4, 4});
  b.output(b.node("Det", "det", {relu}, {2}));
  return b.build();
}

PlanOptions options(const std::string& target, const std::vector<std::string>& pins) {
  PlanOptions options{.target = target, .precisions = {DataType::F16}};
  for (const std::string& text : pins) options.directives.push_back(pin(text));
  return options;
}

Result<Exported> exported(const char* format, const PlanOptions& options, const char* version = "10.3") {
  return findExporter(format)->write(*planned(model(), options), {.own = {{"trt-version", version}}});
}

/// The lines of the text that are comments.
std::string commentsOf(const std::string& text) {
  std::string comments;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("#")) comments += line + "\n";
  return comments;
}

TEST(Exports, MoreAndFewerCastsAreSaidInWords) {
  EXPECT_EQ(changeOfCasts(2, 24), "2 more Casts and 24 B more to move");
  EXPECT_EQ(changeOfCasts(1, -768), "1 more Cast and 768 B less to move");
  EXPECT_EQ(changeOfCasts(-1, 1), "1 fewer Cast and 1 B more to move");
  EXPECT_EQ(changeOfCasts(0, 0), "0 more Casts and no byte more to move");
}

TEST(Exports, APinThatDoesNotHoldIsNamedInTheTextAndInTheNotes) {
  for (const bool obey : {false, true}) {
    // TensorRT has one strictness for all of its layers: both pins have the same.
    const std::string how = obey ? ":obey" : "";
    const auto options_ = options("tensorrt-10", {"relu=f32" + how, "det=f16" + how});
    for (const char* format : {"trtexec", "polygraphy"}) {
      const auto file = exported(format, options_);
      ASSERT_TRUE(file.ok()) << file.error().text();
      EXPECT_TRUE(holds(commentsOf(file.value().text), "not honoured: --pin det=f16" + how)) << file.value().text;
      ASSERT_EQ(file.value().notes.size(), 1U) << format;
      EXPECT_EQ(file.value().notes[0].obey, obey);
      EXPECT_TRUE(holds(file.value().notes[0].text, "det")) << file.value().notes[0].text;
    }
    const auto directives = exported("directives", options_);
    ASSERT_TRUE(directives.ok());
    EXPECT_TRUE(holds(directives.value().text, "\"det\"")) << "the directive itself is in the file";
    EXPECT_EQ(directives.value().notes.size(), 1U);
  }
}

TEST(Exports, PinsThatHoldAreExportedWithoutNotes) {
  for (const char* format : {"trtexec", "polygraphy"}) {
    const auto file = exported(format, options("tensorrt-10", {"relu=f32"}));
    ASSERT_TRUE(file.ok()) << file.error().text();
    EXPECT_TRUE(file.value().notes.empty());
    EXPECT_FALSE(holds(file.value().text, "not honoured"));
    EXPECT_TRUE(holds(file.value().text, format == std::string("trtexec") ? "relu:fp32" : "\"relu\": trt.float32"));
  }
}

TEST(Exports, NothingThatHoldsIsAnErrorThatNamesWhatWasAsked) {
  const auto file = exported("trtexec", options("tensorrt-10", {"det=f16"}));
  ASSERT_FALSE(file.ok());
  EXPECT_TRUE(holds(file.error().help, "--pin det=f16")) << file.error().text();
}

TEST(Exports, APlanForThisMachineSaysSo) {
  const auto file = exported("trtexec", options("cpu:avx2", {"relu=f32"}));
  ASSERT_TRUE(file.ok()) << file.error().text();
  ASSERT_EQ(file.value().notes.size(), 1U);
  EXPECT_FALSE(file.value().notes[0].obey);
  EXPECT_TRUE(holds(commentsOf(file.value().text), "the plan was made for cpu:avx2")) << file.value().text;
}

TEST(Exports, StronglyTypedTargetsTakeNoLayerPrecisions) {
  for (const char* format : {"trtexec", "polygraphy"}) {
    const auto file = exported(format, options("tensorrt-11", {"relu=f32"}));
    ASSERT_FALSE(file.ok()) << format;
    EXPECT_TRUE(holds(file.error().message, "strongly typed")) << file.error().text();
    EXPECT_TRUE(holds(file.error().message, format)) << file.error().text();
    EXPECT_TRUE(holds(file.error().help, "Use --to onnx")) << "a network that is strongly typed can be written";
  }
  EXPECT_TRUE(exported("directives", options("tensorrt-11", {"relu=f32"})).ok());
}

TEST(Exports, TheWorkspaceLimitIsAskedFor) {
  PlanOptions limited = options("tensorrt-10", {"relu=f32"});
  limited.workspaceBytes = 64 << 20;
  EXPECT_TRUE(holds(exported("trtexec", limited).value().text, "--memPoolSize=workspace:64M \\"));
  EXPECT_TRUE(holds(exported("trtexec", limited, "8.6").value().text, "--memPoolSize=workspace:64 \\"))
      << "8.6 takes MiB without a unit";
  const std::string script = exported("polygraphy", limited).value().text;
  EXPECT_TRUE(holds(script, "--pool-limit workspace:64M")) << script;
  EXPECT_TRUE(holds(script, "64 MiB of workspace"));
  limited.workspaceBytes = 1 << 18;
  EXPECT_TRUE(holds(exported("trtexec", limited).value().text, "workspace:0.25M"));
  EXPECT_FALSE(holds(exported("trtexec", options("tensorrt-10", {"relu=f32"})).value().text, "memPoolSize"));
}

TEST(Exports, ALineBreakInANameEndsNoComment) {
  ModelBuilder b;
  const ValueId relu = b.node("Relu", "relu", {b.input("x", {2, 4, 4})}, {2, 4, 4});
  b.output(b.node("Det", "de\nt", {relu}, {2}));
  PlanOptions both = options("tensorrt-10", {"relu=f32"});
  Directive odd = pin("x=f16");
  odd.pattern = "de\nt";
  both.directives.push_back(odd);
  const auto file = findExporter("polygraphy")->write(*planned(b.build(), both), {});
  ASSERT_TRUE(file.ok()) << file.error().text();
  EXPECT_FALSE(holds(file.value().text, "\nt ")) << file.value().text;
  EXPECT_TRUE(holds(file.value().text, "not honoured: --pin 'de t=f16'"));
}

}  // namespace
}  // namespace fusescope
