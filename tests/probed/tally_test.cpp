// A compiler behind the probe, from the list to every command: tally (tally_kind.cpp).
#include <chrono>
#include <filesystem>
#include <set>
#include <stop_token>
#include <thread>

#include "compilers/compile_network.h"
#include "compilers/probed/probed_compiler.h"
#include "session/artifact.h"
#include "session/inputs/random_inputs.h"
#include "session/open_artifact.h"
#include "tests/probed/tally_fixture.h"

namespace fusescope::test {
namespace {

TEST_F(Tally, IsListedWithWhatItCanDo) {
  const Json listed = json({"compilers"});
  const Json environment = entryOf(listed["environments"], "name", "FUSESCOPE_PYTHON");
  ASSERT_TRUE(environment.is_object()) << listed.dump(1);
  const Json tally = entryOf(environment["compilers"], "name", "tally");
  ASSERT_TRUE(tally.is_object()) << environment.dump(1);
  EXPECT_EQ(tally["version"], "1.5");
  EXPECT_EQ(tally["default"], true);
  EXPECT_EQ(tally["compiler"], "tally@FUSESCOPE_PYTHON");
  EXPECT_EQ(tally["devices"][0]["name"], "fingers");
  EXPECT_EQ(tally["options"][0]["name"], "hands");
  EXPECT_EQ(entryOf(tally["cannot"], "ability", "inner_values")["why"], "Tally forgets what it counted on the way.");
  EXPECT_NE(command({"compilers"}).out.find("tally"), std::string::npos);
}

TEST_F(Tally, WhatIsThereComesFirstWhereOneEnvironmentIsTried) {
  const std::string told = command({"compilers", "--env", python()}).out;
  EXPECT_LT(told.find("Environments"), told.find("Compilers")) << told;
  EXPECT_NE(told.find("tally@FUSESCOPE_PYTHON cannot inner_values: Tally forgets"), std::string::npos) << told;
  EXPECT_EQ(told.find("what it counts on"), std::string::npos) << "its options";
  const std::string more = command({"compilers", "--env", python(), "--options"}).out;
  EXPECT_LT(more.find("Compilers"), more.find("what it counts on")) << more;
}

TEST_F(Tally, AnEnvironmentWithoutACompilerEndsWithStatus1) {
  const ProcessResult asked = command({"compilers", "--env", "python3 -I -S"});
  EXPECT_EQ(asked.status, 1) << asked.out;
  EXPECT_NE(asked.err.find("python3 -I -S has no compiler"), std::string::npos) << asked.err;
  EXPECT_EQ(asked.out.find("is in none of these environments"), std::string::npos) << asked.out;
}

TEST_F(Tally, ItsEnvironmentHasALimitOfMemory) {
  ASSERT_EQ(command({"compilers", "add", "fingers", python() + " -B", "--memory", "1073741824", "--keep-files"}).status,
            0);
  const Json listed = json({"compilers"});
  const Json environment = entryOf(listed["environments"], "name", "fingers");
  EXPECT_EQ(environment["memory_bytes"], 1073741824);
  EXPECT_EQ(environment["keeps_files"], true);
  EXPECT_EQ(entryOf(listed["environments"], "name", "FUSESCOPE_PYTHON")["memory_bytes"], Json());
  const std::string told = command({"compilers", "--env", "fingers"}).out;
  EXPECT_NE(told.find("1.00 GiB"), std::string::npos) << told;
  EXPECT_EQ(command({"compilers", "add", "more", "python3", "--memory", "-1"}).status, 2);
}

TEST_F(Tally, TellsWhatItMakes) {
  const Json plan = json({"plan", network(), "--compiler", "tally", "--compiler-option", "hands=one"});
  EXPECT_EQ(plan["source"], "read_back");
  EXPECT_EQ(plan["compiler"]["name"], "tally");
  EXPECT_EQ(plan["compiler"]["version"], "1.5");
  EXPECT_EQ(plan["compiler"]["environment"], python());
  EXPECT_EQ(plan["compiler"]["options"]["hands"], "one");
  ASSERT_EQ(plan["kernels"].size(), 3U) << plan["kernels"].dump(1);
  EXPECT_EQ(nodesOf(plan["kernels"][0]), (std::vector<std::string>{"scale", "clip"}));
  EXPECT_EQ(nodesOf(plan["kernels"][1]), std::vector<std::string>{"turn"});
  EXPECT_EQ(nodesOf(plan["kernels"][2]), (std::vector<std::string>{"shift", "last"}));
  EXPECT_EQ(plan["kernels"][0]["nodes"][0]["certainty"], "named");
  const Json warned = entryOf(plan["decisions"], "code", "build.compiler_warns");
  ASSERT_TRUE(warned.is_object()) << "what it says besides is among the decisions of the plan";
  EXPECT_EQ(warned["arguments"]["message"], "counted on fingers") << warned;
}

/// The file is wrong before the compiler is asked anything: what was begun meanwhile ends with the command.
TEST_F(Tally, AModelThatCannotBeReadEndsWhatWasBegun) {
  const std::string broken = m_folder.write("broken.onnx", "no network").string();
  const ProcessResult told = command({"plan", broken, "--compiler", "tally"});
  EXPECT_EQ(told.status, 2);
  EXPECT_NE(told.err.find("broken.onnx"), std::string::npos) << told.err;
  for (int i = 0; i < 1000 && !std::filesystem::is_empty(m_temporary.path()); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(std::filesystem::is_empty(m_temporary.path())) << "a folder of a probe is left";
}

TEST_F(Tally, HowFarItIsIsToldWhileItIsAsked) {
  forgetProbedCompilers();
  std::set<std::string> phases;
  const auto opened = openArtifact(network(), {}, {.compiler = "tally", .target = findCompiler("tally")->target()}, "",
                                   {}, [&](std::string_view phase, std::string_view) { phases.emplace(phase); });
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  EXPECT_TRUE(phases.contains("look")) << ::testing::PrintToString(phases);
}

TEST_F(Tally, CancelIsHeardWhileItIsOpened) {
  plant("slow open");
  forgetProbedCompilers();
  std::stop_source stop;
  const auto opened = openArtifact(network(), {}, {.compiler = "tally", .target = findCompiler("tally")->target()}, "",
                                   stop.get_token(), [&](std::string_view phase, std::string_view) {
                                     if (phase == "ask") stop.request_stop();
                                   });
  ASSERT_FALSE(opened.ok());
  EXPECT_TRUE(opened.error().cancelled) << opened.error().text();
}

/// It begins to say so after some seconds, and goes on.
TEST_F(Tally, AnImportThatDoesNotEndIsSaidToBeWaitedFor) {
  plant("slow open");
  forgetProbedCompilers();
  std::stop_source stop;
  std::vector<std::string> said;
  const auto opened = openArtifact(network(), {}, {.compiler = "tally", .target = findCompiler("tally")->target()}, "",
                                   stop.get_token(), [&](std::string_view phase, std::string_view detail) {
                                     if (phase == "wait") said.emplace_back(detail);
                                     if (said.size() == 2) stop.request_stop();
                                   });
  ASSERT_FALSE(opened.ok());
  EXPECT_TRUE(opened.error().cancelled) << opened.error().text();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_TRUE(said[0].starts_with("importing tally has taken ")) << said[0];
}

TEST_F(Tally, WhatBecameOfAPinIsSaidOnce) {
  const Json plan = json({"plan", network(), "--compiler", "tally", "--pin", "turn=f32"});
  const auto saysPin = [](const Json& said) { return said["code"].get<std::string>().starts_with("build.pin_"); };
  EXPECT_EQ(std::ranges::count_if(plan["decisions"], saysPin), 1) << plan["decisions"].dump(1);
}

/// Tally calculates in f32, whatever it is asked for.
TEST_F(Tally, APinMarkedObeyThatItDoesNotObeyEndsEveryCommandWithStatus1) {
  const std::string words = "node 'turn' must calculate in f16, and tally does not obey";
  const auto ended = [&](std::vector<std::string> arguments, const char* strictness) {
    arguments.insert(arguments.begin() + 1, network());
    arguments.insert(arguments.end(), {"--compiler", "tally", "--pin", std::string("turn=f16:") + strictness});
    return command(arguments);
  };
  const std::string engine = file("pinned.fse");
  const std::vector<std::vector<std::string>> commands{
      {"plan"}, {"build", "-o", engine}, {"run"}, {"time", "--seconds", "0.1"}, {"errors"}};
  for (const std::vector<std::string>& arguments : commands) {
    const ProcessResult obey = ended(arguments, "obey"), prefer = ended(arguments, "prefer");
    EXPECT_EQ(obey.status, 1) << arguments[0] << "\n" << obey.out;
    EXPECT_NE(obey.err.find(words), std::string::npos) << arguments[0] << "\n" << obey.err;
    EXPECT_NE(obey.err.find("(pin:1, widened)"), std::string::npos) << arguments[0] << "\n" << obey.err;
    EXPECT_EQ(prefer.status, 0) << arguments[0] << "\n" << prefer.err;
    EXPECT_EQ(prefer.err.find("must calculate"), std::string::npos) << prefer.err;
  }
}

TEST_F(Tally, AnEngineThatDoesNotObeyIsNotWrittenAndTheBuildSaysWhatBecameOfThePin) {
  const std::string engine = file("pinned.fse");
  const auto built = [&](const char* pin, bool asJson) {
    std::vector<std::string> arguments{"build", network(), "--compiler", "tally", "--pin", pin, "-o", engine};
    if (asJson) arguments.emplace_back("--json");
    return command(arguments);
  };
  const ProcessResult obey = built("turn=f16:obey", false);
  EXPECT_FALSE(std::filesystem::exists(engine));
  EXPECT_NE(obey.out.find("was not written, because a pin marked obey is not obeyed"), std::string::npos) << obey.out;
  EXPECT_NE(obey.out.find("widened"), std::string::npos) << obey.out;
  const Json refused = Json::parse(built("turn=f16:obey", true).out);
  EXPECT_TRUE(refused["engine"].is_null()) << refused["engine"];
  EXPECT_EQ(entryOf(refused["pins"], "node", "turn")["result"], "widened") << refused["pins"].dump(1);
  const Json preferred = Json::parse(built("turn=f16", true).out);
  EXPECT_EQ(preferred["engine"], engine);
  EXPECT_EQ(entryOf(preferred["pins"], "node", "turn")["result"], "widened") << preferred["pins"].dump(1);
}

TEST_F(Tally, GivesTheNumbersOfOurOwnEngine) {
  expectSameNumbers(network());
}

TEST_F(Tally, WhatItRefusesRunsOnOurOwnEngine) {
  const std::string model = network(kWithExp);
  const Json plan = json({"plan", model, "--compiler", "tally"});
  EXPECT_EQ(plan["segments"].size(), 3U) << plan["segments"].dump(1);
  EXPECT_EQ(entryOf(plan["nodes"], "node", "grow")["fate"], "fallback");
  EXPECT_EQ(entryOf(plan["support"], "node", "grow")["message"], "Tally does not count Exp");
  EXPECT_EQ(entryOf(plan["nodes"], "node", "last")["fate"], "kernel");
  expectSameNumbers(model);
}

TEST_F(Tally, WhatTheUserKeepsFromItRunsOnOurOwnEngine) {
  const Json plan = json({"plan", network(), "--compiler", "tally", "--fallback", "turn"});
  EXPECT_EQ(plan["segments"].size(), 3U);
  EXPECT_EQ(entryOf(plan["nodes"], "node", "turn")["fate"], "fallback");
  EXPECT_EQ(entryOf(plan["nodes"], "node", "shift")["fate"], "kernel");
  expectSameNumbers(network(), {"--fallback", "turn"});
}

/// Its kernels are {scale clip} {turn} {shift last} otherwise.
TEST_F(Tally, ASplitEndsWhatItIsHanded) {
  const Json plan = json({"plan", network(), "--compiler", "tally", "--split", "scale"});
  ASSERT_EQ(plan["segments"].size(), 2U);
  for (const Json& segment : plan["segments"]) EXPECT_EQ(segment["kind"], "accelerated");
  ASSERT_EQ(plan["kernels"].size(), 4U) << plan["kernels"].dump(1);
  EXPECT_EQ(nodesOf(plan["kernels"][0]), std::vector<std::string>{"scale"});
  EXPECT_EQ(nodesOf(plan["kernels"][1]), std::vector<std::string>{"clip"});
  EXPECT_EQ(entryOf(plan["decisions"], "code", "partition.segment_ends")["by"], "split:1");
  const Json obeyed = entryOf(plan["decisions"], "code", "build.split_obeyed");
  EXPECT_EQ(obeyed["by"], "split:1") << plan["decisions"].dump(1);
  EXPECT_TRUE(entryOf(plan["decisions"], "code", "fuse.split_honoured").is_null());
  expectSameNumbers(network(), {"--split", "scale"});
  expectSameNumbers(network(), {"--split", "*"});
  const ProcessResult said = command({"plan", network(), "--compiler", "tally", "--split", "scale"});
  EXPECT_NE(said.out.find("a segment of tally ends after it"), std::string::npos) << said.out;
  for (const char* segment : {"segment_0", "segment_1"})
    EXPECT_NE(said.out.find(std::string(segment) + ": Tally warns: counted on fingers"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("no kernel of tally is on both sides of the split after it"), std::string::npos) << said.out;
}

/// What it fuses cannot be forbidden: nothing says that it was.
TEST_F(Tally, AFusionThatItCannotBeForbiddenIsSaidToBeThat) {
  const std::vector<std::string> asked{"plan", network(), "--compiler", "tally", "--no-fuse", "pointwise"};
  const ProcessResult said = command(asked);
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_NE(
      said.err.find("warning: --no-fuse pointwise has no effect on tally: pointwise is a rule of our own planning"),
      std::string::npos)
      << said.err;
  const Json plan = json(asked);
  EXPECT_EQ(plan["kernels"].size(), 3U);
  EXPECT_EQ(entryOf(plan["decisions"], "code", "fuse.without_effect")["by"], "no_fuse:1") << plan["decisions"].dump(1);
  EXPECT_TRUE(entryOf(plan["decisions"], "code", "fuse.no_fuse_honoured").is_null());
  EXPECT_TRUE(entryOf(plan["decisions"], "code", "fuse.no_fuse").is_null());
}

/// Of what our own rules do not fuse, the plan of another compiler says that it is our prediction.
TEST_F(Tally, OurRulesOnlyPredictWhatItDoes) {
  const Json plan = json({"plan", network(), "--compiler", "tally"});
  for (const Json& decision : plan["decisions"]) {
    const auto code = decision["code"].get<std::string>();
    EXPECT_TRUE(!code.starts_with("fuse.") || code.starts_with("fuse.predicted")) << decision;
  }
}

/// Extents that depend on data, which the bodies behind capture. What is asked before them has known extents, and tally
/// would run it.
TEST_F(Tally, WhatIsBeforeExtentsThatDependOnDataIsCompiled) {
  const std::string model = network(R"(<ir_version: 10, opset_import: ["" : 18]>
net (float[4] x) => (float[4] z, float[1, N] y) <float[4] w = {1, -2, 3, 0.5}, float two = {2}> {
  [scale] a = Mul (x, w)
  [clip] c = Relu (a)
  [places] p = NonZero (c)
  [count] n = Size (p)
  [number] f = Cast <to: int = 1> (n)
  [doubled] d = Mul (f, two)
  [some] b = Cast <to: int = 9> (d)
  [choice] y = If (b) <
    then_branch = have () => (float[1, N] u) { [up] u = Cast <to: int = 1> (p) },
    else_branch = lack () => (float[1, N] v) { [lift] l = Cast <to: int = 1> (p) [down] v = Neg (l) }>
  [turn] z = Neg (c)
})");
  const Json plan = json({"plan", model, "--compiler", "tally"});
  EXPECT_EQ(plan["segments"].size(), 2U) << plan["segments"].dump(1);
  for (const char* node : {"scale", "clip", "turn"})
    EXPECT_EQ(entryOf(plan["nodes"], "node", node)["fate"], "kernel") << node << plan["support"].dump(1);
  for (const char* node : {"places", "doubled", "choice"})
    EXPECT_EQ(entryOf(plan["nodes"], "node", node)["fate"], "fallback") << node;
  EXPECT_NE(entryOf(plan["support"], "node", "doubled")["message"].get<std::string>().find("depend on data"),
            std::string::npos);
  expectSameNumbers(model);
}

TEST_F(Tally, TheNodeThatABuildFailsAtFallsBack) {
  plant("fails Neg");
  const Json plan = json({"plan", network(), "--compiler", "tally"});
  const Json turn = entryOf(plan["support"], "node", "turn");
  EXPECT_EQ(turn["found_by"], "build") << plan["support"].dump(1);
  EXPECT_NE(turn["message"].get<std::string>().find("not enough fingers"), std::string::npos);
  EXPECT_EQ(entryOf(plan["nodes"], "node", "scale")["fate"], "kernel");
  expectSameNumbers(network());
}

TEST_F(Tally, ANodeThatItDiesOfFallsBackAlone) {
  plant("dies Mul");
  const Json plan = json({"plan", network(), "--compiler", "tally"});
  EXPECT_EQ(entryOf(plan["nodes"], "node", "scale")["fate"], "fallback");
  const std::string why = entryOf(plan["support"], "node", "scale")["message"];
  EXPECT_NE(why.find("ended with status 7"), std::string::npos) << why;
  EXPECT_NE(why.find("out of fingers"), std::string::npos) << why;
  for (const char* node : {"clip", "turn", "shift", "last"})
    EXPECT_EQ(entryOf(plan["nodes"], "node", node)["fate"], "kernel") << node;
  expectSameNumbers(network());
}

TEST_F(Tally, IsTimedKernelByKernel) {
  const Json time = json({"time", network(), "--compiler", "tally", "--seconds", "0.1", "--per-layer"});
  EXPECT_GT(time["median_ms"].get<double>(), 0);
  EXPECT_GT(time["samples"].get<int>(), 1);
  EXPECT_NE(time["remark"].get<std::string>().find("while it profiles"), std::string::npos);
  EXPECT_NE(time["remark"].get<std::string>().find("times of kernels are the same in every run"), std::string::npos);
  const Json& kernels = time["layers"][0]["layers"];
  ASSERT_EQ(kernels.size(), 3U) << time.dump(1);
  for (const Json& kernel : kernels) EXPECT_EQ(kernel["median_ms"], 0.25);
}

TEST_F(Tally, WhatItIsToldIsChecked) {
  const ProcessResult value = command({"plan", network(), "--compiler", "tally", "--compiler-option", "hands=three"});
  EXPECT_EQ(value.status, 2);
  EXPECT_NE(value.err.find("option 'hands' of tally cannot be 'three'"), std::string::npos) << value.err;
  EXPECT_NE(value.err.find("Its values are one, two."), std::string::npos) << value.err;
  const ProcessResult near = command({"plan", network(), "--compiler", "tally", "--compiler-option", "effort=hihg"});
  EXPECT_NE(near.err.find("The nearest is high. Its values are low, high."), std::string::npos) << near.err;
  const ProcessResult name = command({"plan", network(), "--compiler", "tally", "--compiler-option", "hand=one"});
  EXPECT_EQ(name.status, 2);
  EXPECT_NE(name.err.find("The nearest is hands."), std::string::npos) << name.err;
  const ProcessResult form = command({"plan", network(), "--compiler", "tally", "--compiler-option", "one"});
  EXPECT_EQ(form.status, 2);
  EXPECT_NE(form.err.find("NAME=VALUE"), std::string::npos) << form.err;
  EXPECT_EQ(command({"plan", network(), "--compiler-option", "hands=one"}).status, 2) << "ours has no options";
}

TEST_F(Tally, IsWhereItsEnvironmentIs) {
  EXPECT_EQ(command({"compilers", "add", "fingers", python()}).status, 0);
  ::unsetenv("FUSESCOPE_PYTHON");
  expectSameNumbers(network(), {}, "tally@fingers");
  EXPECT_EQ(command({"compilers", "remove", "fingers"}).status, 0);
  const ProcessResult gone = command({"plan", network(), "--compiler", "tally@fingers"});
  EXPECT_EQ(gone.status, 2);
  EXPECT_NE(gone.err.find("there is no environment 'fingers'"), std::string::npos) << gone.err;
  EXPECT_EQ(gone.err.find("option '--compiler'"), gone.err.rfind("option '--compiler'")) << gone.err;
  const ProcessResult tried = command({"compilers", "--env", "fingers"});
  EXPECT_NE(tried.err.find("option '--env': there is no environment 'fingers'"), std::string::npos) << tried.err;
  EXPECT_EQ(command({"compilers", "remove", "fingers"}).status, 2);
  expectSameNumbers(network(), {}, "tally@" + python());
}

TEST_F(Tally, IsKeptInAnEngineFile) {
  const ProcessResult built = command({"build", network(), "--compiler", "tally", "-o", file("e.fse")});
  EXPECT_EQ(built.status, 0) << built.err;
  const ProcessResult run = command({"run", file("e.fse"), "--expect", expected(network()), "--tol-rms", "1e-6"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_EQ(command({"build", network(), "--compiler", "tally", "--target", "cpu", "-o", file("f.fse")}).status, 2);
  EXPECT_NE(built.out.find("the compiler's count"), std::string::npos) << built.out;
  EXPECT_NE(built.out.find("4.00 KiB of memory"), std::string::npos) << built.out;
  const Json build = json({"build", network(), "--compiler", "tally", "-o", file("e.fse")});
  EXPECT_EQ(build["compiler_phases"], (Json{{{"name", "count"}, {"ms", 1.5}}}));
  EXPECT_EQ(build["compiler_peak_bytes"], 4096);
}

TEST_F(Tally, StandsBesideOurs) {
  const std::string model = network();
  const Json diff = json({"diff", model, model, "--plan-b", "--compiler tally"});
  EXPECT_EQ(diff["b"]["compiler"], "tally 1.5");
  EXPECT_EQ(diff["same"], false);
  const Json explained = json({"explain", model, "turn", "--compiler", "tally"});
  EXPECT_EQ(explained["made"]["fate"], "kernel") << explained.dump(1);
}

/// A prediction is not repeated beside the fact that answers it.
TEST_F(Tally, WhatWasMadeAnswersThePrediction) {
  const std::string model = network();
  const auto said = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"explain", model, "turn"};
    words.insert(words.end(), more.begin(), more.end());
    return command(words).out;
  };
  EXPECT_NE(said({"--target", "onnxruntime"}).find("is expected to run it"), std::string::npos)
      << said({"--target", "onnxruntime"});
  const std::string made = said({"--compiler", "tally"});
  EXPECT_EQ(made.find("expect"), std::string::npos) << made;
  for (const Json& decision : json({"explain", model, "turn", "--compiler", "tally"})["decisions"])
    EXPECT_NE(decision["code"].get<std::string>().rfind("fuse.predicted", 0), 0U) << decision;
}

/// An option is one difference, also where the compiler says itself what it was asked for: it caused everything.
TEST_F(Tally, AnOptionIsTheCauseOfWhatDiffers) {
  const std::string model = network();
  const Json diff = json({"diff", model, model, "--plan-a", "--compiler tally", "--plan-b",
                          "--compiler tally --compiler-option hands=one"});
  EXPECT_EQ(diff["differences"].size(), 1U) << diff["differences"].dump(1);
  EXPECT_EQ(diff["causes_known"], true);
}

TEST_F(Tally, AProcessThatDiesInARunIsStartedAgain) {
  PlanOptions options{.compiler = "tally@" + python("dies run", "FUSESCOPE_TEST_DIED=" + file("died")),
                      .target = "onnxruntime"};
  const Compiler* compiler = findCompiler(options.compiler);
  ASSERT_NE(compiler, nullptr);
  EXPECT_EQ(compiler, findCompiler(options.compiler)) << "one for the life of the process";
  EXPECT_EQ(findCompiler("tally@"), nullptr);
  EXPECT_EQ(findCompiler("tallies@python3"), nullptr);
  ASSERT_EQ(command({"compilers", "add", "dying", options.compiler.substr(6)}).status, 0);  // confirms it
  const auto artifact = openArtifact(network(), {}, options);
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  const auto engine = openEngine(artifact.value(), {});
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  const auto inputs = randomInputs(*artifact.value().plan);
  const auto died = engine.value()->run(inputs);
  ASSERT_FALSE(died.ok());
  EXPECT_NE(died.error().message.find("ended with status 8"), std::string::npos) << died.error().text();
  const auto again = engine.value()->run(inputs);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_TRUE(again.value().outputs.contains("y"));
}

}  // namespace
}  // namespace fusescope::test
