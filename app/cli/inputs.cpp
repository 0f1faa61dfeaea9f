#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "app/cli/parts.h"
#include "app/cli/table.h"
#include "base/files.h"
#include "base/text.h"
#include "session/network_inputs.h"

namespace fusescope::cli {
namespace {

struct Arguments {
  std::string path, output, from;
  InputsWish wish;
  bool json = false;
};

std::string sourceText(const Json& input) {
  const auto source = input["source"].get<std::string>();
  return input["given_by"].is_null() ? source : fmt::format("{} ({})", source, input["given_by"].get<std::string>());
}

void printForPeople(const Json& json) {
  printTitle(json["model"].get<std::string>());
  Table table({{"input"}, {"type"}, {"in the file"}, {"min"}, {"opt"}, {"max"}, {"source"}});
  for (const Json& input : json["inputs"])
    table.add({input["name"].get<std::string>(), input["type"].get<std::string>(), extentsText(input["dims"], "[…]"),
               extentsText(input["min"], "[…]"), extentsText(input["opt"], "[…]"), extentsText(input["max"], "[…]"),
               sourceText(input)});
  table.print();
  if (json["inputs"].empty()) std::cout << "The network has no inputs.\n";
  std::vector<std::string> examples;
  for (const Json& example : json["examples"])
    examples.push_back(fmt::format("{} {}{}", example["name"].get<std::string>(), example["type"].get<std::string>(),
                                   extentsText(example["dims"], "[…]")));
  if (!examples.empty()) std::cout << fmt::format("example inputs in the file: {}\n", joined(examples));
  if (!json["why_no_examples"].is_null())
    std::cout << fmt::format("example inputs: {}\n", json["why_no_examples"].get<std::string>());
  for (const Json& finding : json["findings"]) std::cout << finding["message"].get<std::string>() << "\n";
  if (!json["written"].is_null()) std::cout << fmt::format("written: {}\n", json["written"].get<std::string>());
}

Result<int> inputs(const Arguments& arguments) {
  if (arguments.path.empty())
    return Diagnostic{.message = "what to look at is missing",
                      .where = {.attribute = "MODEL"},
                      .help = "Give a network, a plan, an engine or a session."};
  if (!arguments.output.empty()) {
    auto writable = checkWritable(arguments.output);
    if (!writable.ok()) {
      Diagnostic error = std::move(writable).error();
      error.where.attribute = "--output";
      return error;
    }
  }
  InputsWish wish = arguments.wish;
  wish.from = arguments.from;
  NetworkInputs read = TRY(networkInputs(arguments.path, wish, {}, progressLine()));
  clearProgressLine();
  const auto examples = TRY(wishedExamples(read, wish));
  if (!arguments.output.empty()) TRY(writeInputs(read, examples, arguments.output));
  if (examples) read.examples = *examples;
  const Json json = toJson(read, arguments.output);
  arguments.json ? printJson(json) : printForPeople(json);
  return kDone;
}

}  // namespace

Command inputsCommand(CLI::App& app) {
  auto* verb =
      app.add_subcommand("inputs", "what a file says of a network's inputs; written into it, so that it is said once");
  auto arguments = std::make_shared<Arguments>();
  verb->add_option("MODEL", arguments->path, "a network (.onnx, .pt2), a plan, an engine or a session")
      ->type_name("MODEL|PLAN|E.fse|S.fsession");
  repeatable(*verb, "--set", arguments->wish.set,
             "the extents of an input: each a number, MIN..OPT..MAX or MIN..MAX; x=1..8..32,3,224,224")
      ->type_name("NAME=EXTENTS[:TYPE]");
  verb->add_option(
          "--from", arguments->from,
          "take the extents from another file: a network, plan, engine or session, a command line of trtexec or "
          "Polygraphy, or a script that export wrote")
      ->type_name("FILE");
  repeatable(*verb, "--example", arguments->wish.examples,
             "example inputs that the file is to carry, as --inputs takes them: run, errors, time and others take them "
             "where no others are given")
      ->type_name("F.npz");
  verb->add_option("-o,--output", arguments->output, "write the network there, with what is known of its inputs")
      ->type_name("MODEL2");
  verb->add_flag("--json", arguments->json, "print JSON");
  return {verb, [arguments] { return inputs(*arguments); }};
}

}  // namespace fusescope::cli
