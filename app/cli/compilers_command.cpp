#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "app/cli/command.h"
#include "app/cli/table.h"
#include "base/quantities.h"
#include "base/text.h"
#include "compilers/probed/asked_environment.h"
#include "compilers/probed/environment_choice.h"
#include "compilers/probed/probed_compiler.h"
#include "probe/found_environment.h"
#include "session/operations/compilers_operation.h"

namespace fusescope::cli {
namespace {

using CompilersArguments = ArgumentsOf<CompilersSettings>;

/// Returns the compilers that are part of this program and need no probe.
std::vector<const Compiler*> builtIn() {
  std::vector<const Compiler*> list;
  for (const Compiler* compiler : allCompilers())
    if (findProbedCompiler(compiler->name()) == nullptr) list.push_back(compiler);
  return list;
}

std::string abilitiesText(const Compiler& compiler) {
  std::vector<std::string> can;
  for (const Ability ability : allAbilities())
    if (compiler.whyNot(ability).empty()) can.emplace_back(name(ability));
  return joined(can);
}

void addReasons(const Compiler& compiler, std::vector<std::string>& reasons) {
  if (const std::string untried = compiler.untried(); !untried.empty())
    reasons.push_back(fmt::format("{} is untried: {}", compiler.name(), untried));
  if (const std::string untried = compiler.untriedToRun(); !untried.empty())
    reasons.push_back(fmt::format("running with {} is untried: {}", compiler.name(), untried));
  for (const Ability ability : allAbilities())
    if (const std::string why = compiler.whyNot(ability); !why.empty())
      reasons.push_back(fmt::format("{} cannot {}: {}", compiler.name(), name(ability), why));
}

std::string targetText(const Compiler& compiler) {
  return compiler.target().empty() ? "any" : compiler.target();
}

void printCompilers(const std::vector<AskedEnvironment>& environments, bool withOurs) {
  printTitle("Compilers");
  Table table({{"name"}, {"version"}, {"where"}, {"target"}, {"can"}});
  std::vector<std::string> reasons;
  if (withOurs)
    for (const Compiler* compiler : builtIn()) {
      const CompilerIdentity identity = compiler->identity();
      table.add({identity.name, identity.version, identity.environment.empty() ? "built in" : identity.environment,
                 targetText(*compiler), abilitiesText(*compiler)});
      addReasons(*compiler, reasons);
    }
  for (const AskedEnvironment& environment : environments)
    for (const AskedCompiler& asked : environment.compilers) {
      const std::string called(asked.isFirst ? asked.name : std::string(asked.compiler->name()));
      if (!asked.problem.empty()) continue;
      table.add({called, asked.version, environment.found.environment.command, targetText(*asked.compiler),
                 abilitiesText(*asked.compiler)});
      addReasons(*asked.compiler, reasons);
    }
  table.print();
  for (const std::string& reason : reasons) std::cout << reason << "\n";
}

/// Prints how to get the answers of compilers that are in none of these environments.
void printElsewhere(const std::vector<AskedEnvironment>& environments) {
  for (const ProbedKind* kind : allProbedKinds()) {
    const bool isHere = std::ranges::any_of(environments, [&](const AskedEnvironment& environment) {
      const auto asked = std::ranges::find(environment.compilers, kind->name(), &AskedCompiler::name);
      return asked != environment.compilers.end() && asked->problem.empty();
    });
    if (!isHere) std::cout << fmt::format("{} is in none of these environments. {}\n", kind->name(), kind->elsewhere());
  }
}

/// Returns the most memory that a process of a compiler may allocate.
std::string memoryText(const FoundEnvironment& found) {
  if (found.environment.memoryBytes)
    return *found.environment.memoryBytes == 0 ? "no limit" : inBytes(*found.environment.memoryBytes);
  const Json memory = found.hello.is_object() ? found.hello.value("memory", Json()) : Json();
  return memory.is_number_integer() ? inBytes(memory.get<std::int64_t>() / 4 * 3) : "-";
}

void printEnvironments(const std::vector<AskedEnvironment>& environments, bool areAll) {
  printTitle("Environments");
  Table table({{"name"}, {"command"}, {"Python"}, {"machine"}, {"memory"}, {"keeps files"}});
  std::vector<std::string> problems;
  for (const AskedEnvironment& environment : environments) {
    const FoundEnvironment& found = environment.found;
    table.add({found.environment.name, found.environment.command, found.python.empty() ? "-" : found.python,
               found.machine.empty() ? "-" : found.machine, memoryText(found),
               found.environment.keepsFiles ? "yes" : "-"});
    if (!found.problem.empty()) problems.push_back(found.environment.name + ": " + found.problem);
    for (const AskedCompiler& asked : environment.compilers)
      if (!asked.problem.empty())
        problems.push_back(fmt::format("{}: {}: {}", found.environment.name, asked.name, asked.problem));
  }
  table.print();
  for (const std::string& problem : problems) std::cout << problem << "\n";
  if (areAll) printElsewhere(environments);
}

/// Prints the options of the compilers that are in these environments, or of all compilers.
void printOptions(const std::vector<AskedEnvironment>& environments, bool ofAll) {
  printTitle("Options (--compiler-option NAME=VALUE)");
  Table table({{"compiler"}, {"name"}, {"values"}, {"if not given"}, {"what it does"}});
  const auto isThere = [&](std::string_view name) {
    return std::ranges::any_of(environments, [&](const AskedEnvironment& environment) {
      return std::ranges::any_of(environment.compilers, [&](const AskedCompiler& asked) {
        return asked.name == name && asked.problem.empty();
      });
    });
  };
  for (const Compiler* compiler : allCompilers())
    for (const CompilerOption& option : compiler->options())
      if (ofAll || isThere(compiler->name()))
        table.add({std::string(compiler->name()), option.name, option.values.empty() ? "any" : joined(option.values),
                   option.initial.empty() ? "-" : option.initial, option.help});
  if (!table.empty()) table.print();
}

Result<std::vector<AskedEnvironment>> ask(const std::vector<Environment>& environments) {
  std::vector<AskedEnvironment> asked;
  const Progress progress = progressLine();
  for (const Environment& environment : environments) {
    if (progress) progress("ask", environment.command);
    asked.push_back(TRY(askEnvironment(environment, {}, progress)));
    endIdleJobs();
  }
  clearProgressLine();
  return asked;
}

Result<int> list(const CompilersArguments& arguments) {
  const bool isOne = !arguments.command.empty();
  std::vector<Environment> environments = findEnvironments();
  if (isOne) {
    environments = {TRY(environmentNamed(arguments.command, "--env"))};
    if (!isConfirmed(environments[0].command)) TRY(confirm(environments[0].command));
  }
  const auto asked = TRY(ask(environments));
  if (arguments.json) {
    Json json = {{"format", "fusescope.compilers"},
                 {"version", 1},
                 {"compilers", Json::array()},
                 {"environments", Json::array()}};
    for (const Compiler* compiler : builtIn()) json["compilers"].push_back(toJson(*compiler));
    for (const AskedEnvironment& environment : asked) json["environments"].push_back(toJson(environment));
    printJson(json);
  } else {
    // An environment that was asked for comes first: whether it is there at all is the answer.
    if (isOne) printEnvironments(asked, false);
    printCompilers(asked, !isOne);
    if (!isOne) printEnvironments(asked, true);
    if (arguments.listsOptions)
      printOptions(asked, !isOne);
    else
      std::cout << "fusescope compilers --options also lists the options of each compiler.\n";
  }
  const bool hasCompiler = std::ranges::any_of(asked, [](const AskedEnvironment& environment) {
    return std::ranges::any_of(environment.compilers, [](const AskedCompiler& each) { return each.problem.empty(); });
  });
  if (isOne && asked[0].found.problem.empty() && !hasCompiler)
    std::cerr << fmt::format("fusescope: {} has no compiler\n", asked[0].found.environment.command);
  return isOne && !hasCompiler ? kDoesNotHold : kDone;
}

Result<int> add(const ArgumentsOf<CompilersAddSettings>& arguments) {
  TRY(addEnvironment({.name = arguments.name,
                      .command = arguments.command,
                      .keepsFiles = arguments.keepsFiles,
                      .memoryBytes = arguments.memoryBytes}));
  return kDone;
}

Result<int> remove(const ArgumentsOf<CompilersRemoveSettings>& arguments) {
  TRY(removeEnvironment(arguments.name));
  return kDone;
}

}  // namespace

Command compilersCommand(CLI::App& app) {
  const Operation& operation = compilersOperation();
  Command own = commandOf<CompilersSettings>(app, operation, list);
  CLI::App& verb = *own.app;
  return withParts(std::move(own),
                   {commandOf<CompilersAddSettings>(verb, partOf(operation, "compilers add"), add),
                    commandOf<CompilersRemoveSettings>(verb, partOf(operation, "compilers remove"), remove)});
}

}  // namespace fusescope::cli
