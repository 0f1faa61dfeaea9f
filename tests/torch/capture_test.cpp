// Of a function of a script, and of TorchScript, torch makes an exported program: only after the user has confirmed
// that this file is run. A stand-in for torch runs the script, and gives a program that was recorded.
#include "compilers/torch/capture_program.h"

#include <signal.h>

#include <chrono>
#include <thread>

#include "compilers/torch/capture_answer.h"
#include "ir/tensor.h"
#include "probe/environments.h"
#include "probe/sha256.h"
#include "tests/support/pt2_files.h"
#include "tests/torch/recorded_program.h"

namespace fusescope::test {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

constexpr const char* kScript = R"(import os
import torch

open(os.path.join(os.path.dirname(__file__), "ran.txt"), "a").write("ran\n")


class Net(torch.nn.Module):
    def forward(self, x):
        print("forward is traced")
        return x


def make():
    print("make is called")
    return Net(), (torch.Tensor(3, 8),)


def alone():
    return Net()


def fails():
    return 1 / 0
)";

class CapturedCode : public RecordedProgram {
 protected:
  CapturedCode() { fs::create_directories(m_folder / "user"); }

  fs::path user(const std::string& name) const { return m_folder / "user" / name; }
  std::string script(const std::string& text = kScript) const {
    std::ofstream(user("net.py")) << text;
    return user("net.py");
  }
  /// What torch.jit.save() writes, as far as it is looked at here.
  std::string torchScript() const {
    std::ofstream(user("old.pt"), std::ios::binary)
        << zipBytes({{.name = "old/code/__torch__/net.py", .content = "class Net(Module):"},
                     {.name = "old/data.pkl", .content = ")."},
                     {.name = "old/constants.pkl", .content = ")."}});
    inRecording([&](Json& told) {
      told["log"] = log().string();
      told["arguments"] =
          Json::array({Json{{"name", "x"}, {"type", "Tensor"}}, Json{{"name", "mask"}, {"type", "Tensor"}},
                       Json{{"name", "scale"}, {"type", "float"}, {"default", 2.0}}});
    });
    return user("old.pt");
  }
  fs::path log() const { return m_folder / "loaded.txt"; }
  bool ran() const { return fs::exists(user("ran.txt")); }

  Arguments import(const std::string& what, const Arguments& more = {}) const {
    Arguments arguments{"import", what, "--env", environment()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  Arguments run(const std::string& what, Arguments more = {}) const {
    more.emplace_back("--run-code");
    return import(what, more);
  }
  static Json decisionOf(const Json& document, const std::string& code) {
    for (const Json& decision : document["captured"]["decisions"])
      if (decision["code"] == code) return decision;
    return Json::object();
  }
  ProcessResult onTerminal(const std::string& answer, const Arguments& arguments) const {
    Arguments command{"/usr/bin/env", "python3", TORCH_TESTS "/on_terminal.py", answer, binary("fusescope")};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return runProcess(command);
  }
};

TEST_F(CapturedCode, NothingRunsThatNobodyConfirmed) {
  const std::string net = script();
  const std::string hash = sha256OfFile(net, {}).value();
  const std::string refused = problem(import(net + ":make"));
  EXPECT_TRUE(has(refused, net + ": is code that torch would run, and there is no terminal to ask on: nothing was run"))
      << refused;
  EXPECT_TRUE(has(refused, "--run-code")) << refused;
  EXPECT_TRUE(has(refused, hash)) << refused;
  problem(import(torchScript(), {"--input", "x=2,8", "--input", "mask=2,8"}));
  EXPECT_FALSE(fs::exists(log()));
  EXPECT_FALSE(ran());
  EXPECT_FALSE(fs::exists(user("net.make.pt2")));
}

/// Whoever calls captureProgram() says which content was confirmed.
TEST_F(CapturedCode, AnotherContentThanTheConfirmedIsNotRun) {
  ASSERT_TRUE(confirm(environment()).ok());
  const auto code = codeNamed(script() + ":make").value();
  ASSERT_TRUE(code);
  CaptureOptions options{.environment = environment()};
  const auto unconfirmed = captureProgram(*code, options);
  ASSERT_FALSE(unconfirmed.ok());
  EXPECT_TRUE(has(unconfirmed.error().text(), "nobody has confirmed")) << unconfirmed.error().text();
  options.confirmed = code->sha256;
  script(std::string(kScript) + "\n# changed\n");
  const auto changed = captureProgram(*code, options);
  ASSERT_FALSE(changed.ok());
  EXPECT_TRUE(has(changed.error().text(), "has changed since it was confirmed")) << changed.error().text();
  EXPECT_FALSE(ran());
  script();
  EXPECT_TRUE(captureProgram(*code, options).ok());
  EXPECT_TRUE(ran());
}

TEST_F(CapturedCode, OnATerminalTheFileIsNamedAndAskedFor) {
  const std::string net = script();
  for (const char* no : {"n", "", "what"}) {
    const ProcessResult refused = onTerminal(no, import(net + ":make"));
    EXPECT_EQ(refused.status, 2);
    EXPECT_TRUE(has(refused.out, "file     " + net)) << refused.out;
    EXPECT_TRUE(has(refused.out, "SHA-256  " + sha256OfFile(net, {}).value())) << refused.out;
    EXPECT_TRUE(has(refused.out, "what that imports, and its function make()")) << refused.out;
    EXPECT_TRUE(has(refused.out, "you did not confirm it: nothing was run")) << refused.out;
  }
  EXPECT_FALSE(ran());
  const ProcessResult done = onTerminal("y", import(net + ":make"));
  EXPECT_EQ(done.status, 0) << done.out;
  EXPECT_TRUE(ran());
  EXPECT_TRUE(fs::exists(user("net.make.pt2")));
}

TEST_F(CapturedCode, AModuleBecomesAProgramAndItsNetwork) {
  const std::string net = script();
  const Json made = json(run(net + ":make"));
  const std::string program = user("net.make.pt2");
  EXPECT_EQ(made["program"], program);
  EXPECT_EQ(made["is_new"], true);
  EXPECT_EQ(made["captured"]["kind"], "script");
  EXPECT_EQ(made["captured"]["function"], "make");
  EXPECT_EQ(made["captured"]["sha256"], sha256OfFile(net, {}).value());
  EXPECT_EQ(made["captured"]["way"], "torch.export (non-strict)");
  EXPECT_EQ(decisionOf(made, "import.exported_by_torch")["message"],
            "torch 2.14.1 made the program from net.py:make by torch.export (non-strict)");
  EXPECT_EQ(decisionOf(made, "import.put_in_evaluation")["allowed"], true);
  const std::string described = readTextFile(TORCH_TESTS "/../../docs/json.md").value();
  for (const auto& [key, value] : made["captured"].items()) EXPECT_TRUE(has(described, key)) << key;
  fs::remove_all(m_folder / "recording/stand_in");
  EXPECT_EQ(json({"run", program, "--expect", arrays()})["ok"], true);
  EXPECT_EQ(readTextFile(user("ran.txt")).value(), "ran\n") << "it runs once";
}

TEST_F(CapturedCode, NoFileIsWrittenOver) {
  const std::string net = script();
  std::ofstream(user("net.make.pt2")) << "mine";
  const std::string there = problem(run(net + ":make"));
  EXPECT_TRUE(has(there, "exists already and is not written over")) << there;
  EXPECT_TRUE(has(there, "--overwrite")) << there;
  EXPECT_TRUE(
      has(problem(run(net + ":make", {"-o", net, "--overwrite"})), "is the file from which the program is made"));
  EXPECT_TRUE(has(problem(run(net + ":make", {"-o", user("nowhere/net.pt2")})), "-o"));
  EXPECT_TRUE(has(problem(run(net + ":make", {"-o", user("net.onnx")})), "must name the exported program"));
  EXPECT_FALSE(ran());
  EXPECT_EQ(json(run(net + ":make", {"--overwrite"}))["program"], user("net.make.pt2").string());
  EXPECT_EQ(json(run(net + ":make", {"-o", user("other.pt2")}))["program"], user("other.pt2").string());
}

/// As of a program that is there already.
TEST_F(CapturedCode, WhereTheProgramHasNoOnnxFormItStays) {
  inRecording([](Json& told) { told["refuses"] = "the words of the exporter"; });
  const ProcessResult result = fusescopeCommand(run(script() + ":make", {"--json"}));
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(has(result.err, "cannot export the program to ONNX")) << result.err;
  EXPECT_TRUE(has(result.err, "The program is kept in " + user("net.make.pt2").string())) << result.err;
  EXPECT_EQ(json({"inspect", user("net.make.pt2")})["cannot_run"][0]["code"], "build.needs_torch");
}

TEST_F(CapturedCode, BreaksAreDecisionsWithTheirLines) {
  const std::string net = script();
  inRecording([](Json& told) {
    told["breaks"] =
        Json::array({{{"reason",
                       "Data-dependent branching\n  Explanation: Dynamo cannot follow.\n  Hint: Use torch.cond.\n\n  "
                       "Developer debug context: x"},
                      {"line", 9}}});
    told["recompiles"] = Json::array({{{"reason", "0/0: tensor 'x' size mismatch"}, {"line", 8}}});
  });
  EXPECT_EQ(decisionOf(json(run(net + ":make")), "import.graph_break"), Json::object()) << "nobody asked";
  const Json made = json(run(net + ":make", {"--breaks", "--overwrite"}));
  const Json left = decisionOf(made, "import.graph_break");
  EXPECT_EQ(left["arguments"]["file"], net);
  EXPECT_EQ(left["arguments"]["line"], 9);
  EXPECT_EQ(left["arguments"]["function"], "forward");
  EXPECT_EQ(left["arguments"]["hints"], Json::array({"Use torch.cond."}));
  EXPECT_EQ(left["message"], net +
                                 ":9, in forward: TorchDynamo breaks the graph: Data-dependent branching. Dynamo "
                                 "cannot follow.");
  EXPECT_EQ(decisionOf(made, "import.recompiled")["message"],
            net + ":8, forward: TorchDynamo compiles it again: tensor 'x' size mismatch");
  const ProcessResult text = fusescopeCommand(run(net + ":make", {"--breaks", "--overwrite"}));
  EXPECT_TRUE(has(text.out, net + ":9, in forward")) << text.out;
  EXPECT_TRUE(has(text.out, "    Use torch.cond.")) << text.out;
}

TEST_F(CapturedCode, WhatTorchCannotExportIsSaidWithItsBreaks) {
  const std::string net = script();
  inRecording([](Json& told) {
    told["not_strict"] = "Could not guard on data-dependent expression Eq(u0, 1)\nand advice";
    told["strict"] = "Data-dependent branching";
    told["breaks"] = Json::array({{{"reason", "generic_jump"}, {"line", 9}}});
  });
  const ProcessResult result = fusescopeCommand(run(net + ":make", {"--json"}));
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(has(result.err, "torch 2.14.1 cannot export it. RuntimeError: Could not guard on data-dependent"))
      << result.err;
  EXPECT_TRUE(has(result.err, "torch.cond(")) << result.err;
  EXPECT_FALSE(has(result.err, "and advice")) << result.err;
  const Json told = Json::parse(result.out);
  EXPECT_EQ(told["program"], nullptr);
  EXPECT_EQ(told["captured"]["way"], nullptr);
  EXPECT_EQ("fusescope: " + told["captured"]["problem"].get<std::string>() + "\n", result.err);
  EXPECT_EQ(decisionOf(told, "import.way_refused")["arguments"]["way"], "torch.export (non-strict)");
  EXPECT_EQ(decisionOf(told, "import.graph_break")["arguments"]["line"], 9);
  EXPECT_FALSE(fs::exists(user("net.make.pt2")));

  inRecording([](Json& told) { told.erase("strict"); });
  EXPECT_EQ(json(run(net + ":make"))["captured"]["way"], "torch.export (strict)");
}

TEST_F(CapturedCode, BreaksThatAreNotListedAreCounted) {
  inRecording([](Json& told) {
    for (int line = 1; line <= 203; ++line) told["breaks"].push_back({{"reason", "a loop"}, {"line", line}});
  });
  const Json made = json(run(script() + ":make", {"--breaks"}));
  const auto isBreak = [](const Json& decision) { return decision["code"] == "import.graph_break"; };
  EXPECT_EQ(std::ranges::count_if(made["captured"]["decisions"], isBreak), 200);
  EXPECT_EQ(decisionOf(made, "import.breaks_left_out")["arguments"], (Json{{"breaks", 3}, {"recompiles", 0}}));
}

TEST_F(CapturedCode, WhatTheScriptRaisesIsLocatedInIt) {
  const std::string net = script();
  EXPECT_TRUE(has(problem(run(net + ":fails")), net + ": line 23: fails() raised ZeroDivisionError: division by zero"));
  const std::string alone = problem(run(net + ":alone"));
  EXPECT_TRUE(has(alone, "line 18: alone() returns a module alone, without example inputs")) << alone;
  EXPECT_TRUE(has(alone, "(module, args, kwargs, dynamic_shapes)")) << alone;
  EXPECT_TRUE(has(problem(run(net + ":nothing")), "Its functions are make, alone, fails."));
  EXPECT_TRUE(has(problem(run(net + ":make()")), "'make()' is not the name of a function"));
  EXPECT_TRUE(has(problem(run(net)), "fusescope import " + net + ":FUNCTION"));
  script("import torch\n\n\ndef make(:\n");
  EXPECT_TRUE(has(problem(run(net + ":make")), net + ": line 4: The script raised SyntaxError"));
  script("import sys\nsys.exit('no')\n");
  EXPECT_TRUE(has(problem(run(net + ":make")), "line 2: The script ended the process (SystemExit: no)"));
  script("import os\nos._exit(3)\n");
  EXPECT_TRUE(has(problem(run(net + ":make")), "ended with status 3"));
  std::string raises = kScript;
  raises.replace(raises.find("return x"), 8, "return y");
  script(raises);
  inRecording([](Json& told) { told["breaks"] = Json::array(); });
  const ProcessResult result = fusescopeCommand(run(net + ":make"));
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(has(result.err, net + ": line 10, in forward: torch 2.14.1 cannot export it. NameError")) << result.err;
  EXPECT_TRUE(has(result.out, "breaks of the graph are not known: NameError")) << result.out;
  EXPECT_EQ(
      decisionOf(Json::parse(fusescopeCommand(run(net + ":make", {"--json"})).out), "import.breaks_unknown")["allowed"],
      false);
}

/// A file called torch.py in the folder that the user is in, or beside the script, stands in for nothing that torch is
/// made of; what the script imports is found beside it.
TEST_F(CapturedCode, TheFolderOfTheScriptIsThereForItsImportsAlone) {
  const std::string mark = "open(" + Json((m_folder / "shadowed.txt").string()).dump() + ", 'w').write(__name__)\n";
  for (const char* name : {"torch.py", "json.py", "numpy.py"}) std::ofstream(user(name)) << mark;
  fs::create_directories(m_folder / "here");
  for (const char* name : {"torch.py", "json.py", "helper.py"}) std::ofstream(m_folder / "here" / name) << mark;
  std::ofstream(user("helper.py")) << "ANSWER = 42\n";
  const std::string net = script("import helper\nimport sys\nassert helper.ANSWER == 42\n" + std::string(kScript));
  Arguments command{"/usr/bin/env", "-C", m_folder / "here", binary("fusescope")};
  for (const std::string& each : run(net + ":make")) command.push_back(each);
  const ProcessResult result = runProcess(command);
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_FALSE(fs::exists(m_folder / "shadowed.txt")) << readTextFile(m_folder / "shadowed.txt").value();
}

TEST_F(CapturedCode, AScriptThatNeverEndsEndsWithItsCancelledImport) {
  ASSERT_TRUE(confirm(environment()).ok());
  const fs::path number = user("number.txt");
  const auto code =
      codeNamed(script("import os\nopen(" + Json(number.string() + ".new").dump() + ", 'w').write(str(os.getpid()))\n" +
                       "os.rename(" + Json(number.string() + ".new").dump() + ", " + Json(number.string()).dump() +
                       ")\nwhile True:\n    pass\n") +
                ":make")
          .value();
  std::stop_source cancel;
  const std::jthread canceller([&](const std::stop_token& isOver) {
    while (!fs::exists(number) && !isOver.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    cancel.request_stop();
  });
  const auto captured =
      captureProgram(*code, {.confirmed = code->sha256, .environment = environment()}, cancel.get_token());
  ASSERT_FALSE(captured.ok());
  EXPECT_TRUE(captured.error().cancelled) << captured.error().text();
  const int process = std::stoi(readTextFile(number).value());
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (::kill(process, 0) == 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_NE(::kill(process, 0), 0) << "the script goes on";
  EXPECT_FALSE(fs::exists(user("net.make.pt2")));
}

TEST_F(CapturedCode, TorchScriptBecomesAProgramWithWhatIsLostSaid) {
  const std::string old = torchScript();
  const Arguments extents{"--input", "x=3,8", "--input", "mask=3,8:f32"};
  const Json made = json(run(old, extents));
  EXPECT_EQ(made["program"], user("old.pt2").string());
  EXPECT_EQ(made["captured"]["kind"], "torchscript");
  EXPECT_EQ(made["captured"]["way"], "TS2EPConverter");
  EXPECT_EQ(made["captured"]["function"], nullptr);
  std::string lost;
  for (const Json& decision : made["captured"]["decisions"])
    if (decision["code"] == "import.lost_by_torchscript") lost += decision["message"].get<std::string>() + "\n";
  for (const char* what : {"lines of source", "names of modules", "ranges of extents"})
    EXPECT_TRUE(has(lost, what)) << lost;
  EXPECT_EQ(json({"run", made["program"], "--expect", arrays(), "--inputs", arrays()})["ok"], true);
}

TEST_F(CapturedCode, OfTorchScriptBothNamesMustBeFreeAndExtentsGiven) {
  const std::string old = torchScript();
  const std::string without = problem(run(old, {"--input", "x=:int64"}));
  EXPECT_TRUE(has(without, "'x=:int64' gives no extents")) << without;
  std::ofstream(user("old.onnx")) << "a network of the user";
  const std::string there = problem(run(old, {"--input", "x=3,8", "--input", "mask=3,8"}));
  EXPECT_TRUE(has(there, "old.onnx")) << there;
  EXPECT_TRUE(has(there, "exists already and is not written over")) << there;
  const std::string noScript = problem({"import", user("old.onnx").string() + ":make"});
  EXPECT_FALSE(has(noScript, "function of a script")) << noScript;
}

TEST_F(CapturedCode, WhereTheConverterFailsTheOldExporterWritesOnnx) {
  const std::string old = torchScript();
  inRecording([](Json& told) { told["converter"] = "no such operator"; });
  const Arguments extents{"--input", "x=3,8", "--input", "mask=3,8"};
  const Json made = json(run(old, extents));
  EXPECT_EQ(made["program"], nullptr);
  EXPECT_EQ(made["network"], user("old.onnx").string());
  EXPECT_EQ(made["captured"]["way"], "torch.onnx.export(dynamo=False)");
  EXPECT_EQ(decisionOf(made, "import.way_refused")["message"], "TS2EPConverter failed: RuntimeError: no such operator");
  EXPECT_EQ(json({"inspect", made["network"]})["cannot_run"], Json::array());
  Arguments asProgram = extents;
  asProgram.insert(asProgram.end(), {"-o", user("asked.pt2")});
  const std::string refused = problem(run(old, asProgram));
  EXPECT_TRUE(has(refused, "cannot make a program of this TorchScript. By TS2EPConverter: RuntimeError: no such"))
      << refused;
  EXPECT_FALSE(fs::exists(user("asked.pt2")));
}

TEST_F(CapturedCode, ExtentsOfTorchScriptAreAskedFor) {
  const std::string old = torchScript();
  const std::string none = problem(run(old));
  EXPECT_TRUE(has(none, "does not contain the extents of its inputs, and none are given")) << none;
  EXPECT_TRUE(has(none, "--input x=1,3,224,224 --input ids=1,128:int64")) << none;
  EXPECT_FALSE(fs::exists(log())) << "nothing was loaded for that";
  const std::string one = problem(run(old, {"--input", "x=3,8"}));
  EXPECT_TRUE(has(one, "The argument mask (Tensor) of forward() has no extents")) << one;
  const std::string unknown = problem(run(old, {"--input", "y=3,8"}));
  EXPECT_TRUE(
      has(unknown, "It has no input y. The arguments of forward() are x (Tensor), mask (Tensor), scale (float)"))
      << unknown;
  EXPECT_TRUE(has(problem(run(old, {"--input", "x=3,8", "--input", "x=3,9"})), "x is given twice"));
  EXPECT_TRUE(has(problem(run(old, {"--input", "x=3,8", "--breaks"})), "--breaks"));
  EXPECT_TRUE(has(problem(run(script() + ":make", {"--input", "x=3,8"})), "--input"));
}

/// What comes back from a probe is read as any other file.
TEST_F(CapturedCode, AnAnswerThatIsNotKnownIsRefused) {
  const CodeToRun code{.file = user("net.py"), .function = "make"};
  const Json good{{"version", 1}, {"torch", "2.14.1"}, {"way", "strict"}, {"extents", {{"s77", "batch"}}}};
  const std::map<std::string, fs::path> files{{"program.pt2", user("program.pt2")}};
  const auto captured = capturedFrom(code, {.json = good, .files = files});
  ASSERT_TRUE(captured.ok()) << captured.error().text();
  EXPECT_EQ(captured.value().extents.at("s77"), "batch");
  const auto refused = [&](const Json& change, const std::map<std::string, fs::path>& with, const char* words) {
    Json json = good;
    json.update(change);
    const auto bad = capturedFrom(code, {.json = json, .files = with});
    ASSERT_FALSE(bad.ok()) << change.dump();
    EXPECT_TRUE(has(bad.error().text(), words)) << bad.error().text();
    EXPECT_EQ(bad.error().where.file, user("net.py").string());
  };
  refused({{"version", 2}}, files, "it has version 2, and this program reads version 1");
  refused({{"way", 3}}, files, "way");
  refused({{"breaks", {1}}}, files, "breaks[0]");
  refused({{"breaks", {{{"file", "net.py"}}}}}, files, "line");
  refused({{"breaks", {{{"file", "net.py"}, {"line", 1}, {"reason", ""}, {"hints", {1}}}}}}, files, "hints");
  refused({{"extents", {1}}}, files, "extents");
  refused(Json::object(), {}, "its files are not the files that it lists");
  refused({{"way", ""}}, files, "its files are not the files that it lists");
  refused({{"way", ""}}, {}, "must be an object");
  refused(Json::object(), {{"program.pt2", {}}, {"weights", {}}}, "separate files");
}

TEST_F(CapturedCode, OtherFilesAreNamedWithWhatToDo) {
  std::ofstream(user("weights.pt"), std::ios::binary)
      << zipBytes({{.name = "archive/data.pkl", .content = "\x80\x02}."}});
  std::ofstream(user("legacy.pt"), std::ios::binary) << "\x80\x02\x8a\nl";
  for (const char* name : {"weights.pt", "legacy.pt"}) {
    const std::string refused = problem(run(user(name), {"--input", "x=3,8"}));
    EXPECT_TRUE(has(refused, "contains weights or a module that torch.save() wrote, but no graph")) << refused;
    EXPECT_TRUE(has(refused, "fusescope import SCRIPT.py:FUNCTION")) << refused;
  }
  const std::string net = script(), old = torchScript();
  EXPECT_TRUE(has(problem({"plan", net + ":make"}), "fusescope import " + net + ":make"));
  EXPECT_TRUE(has(problem({"plan", net}), "fusescope import " + net + ":FUNCTION"));
  EXPECT_TRUE(has(problem({"plan", old}), "fusescope import " + old + " --input NAME="));
  fs::copy_file(m_folder / "recording/net.pt2", user("net.pt2"));
  EXPECT_TRUE(has(problem(import(user("net.pt2"), {"--run-code"})), "--run-code"));
  EXPECT_FALSE(ran());
}

}  // namespace
}  // namespace fusescope::test
