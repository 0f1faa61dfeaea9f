#include <fmt/format.h>

#include <iostream>

#include "app/cli/command.h"
#include "app/cli/table.h"
#include "base/files.h"
#include "base/text.h"
#include "session/inputs/network_inputs.h"
#include "session/operations/inputs_operation.h"

namespace fusescope::cli {
namespace {

using InputsCommandArguments = ArgumentsOf<InputsCommandSettings>;

std::string sourceText(const Json& input) {
  const auto source = input["source"].get<std::string>();
  return input["given_by"].is_null() ? source : fmt::format("{} ({})", source, input["given_by"].get<std::string>());
}

void printInputs(const Json& json) {
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

Result<int> inputs(const InputsCommandArguments& arguments) {
  if (arguments.path.empty())
    return Diagnostic{.message = "the file to show is missing",
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
  InputEdits edits = arguments.edits();
  edits.from = arguments.from;
  NetworkInputs read = TRY(networkInputs(arguments.path, edits, {}, progressLine()));
  clearProgressLine();
  const auto examples = TRY(givenExamples(read, edits));
  if (!arguments.output.empty()) TRY(writeInputs(read, examples, arguments.output));
  if (examples) read.examples = *examples;
  const Json json = toJson(read, arguments.output);
  arguments.json ? printJson(json) : printInputs(json);
  return kDone;
}

}  // namespace

Command inputsCommand(CLI::App& app) {
  return commandOf<InputsCommandSettings>(app, inputsOperation(), inputs);
}

}  // namespace fusescope::cli
