#include "ui/document/compiler_facts.h"

#include <optional>
#include <utility>

#include "compilers/probed/probed_compiler.h"
#include "ui/document/made_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

CompilerFacts askedFacts(const Compiler& compiler) {
  CompilerFacts facts{.identity = compiler.identity(), .cannot = {}};
  for (const Ability ability : allAbilities())
    if (std::string why = compiler.whyNot(ability); !why.empty()) facts.cannot.emplace(ability, std::move(why));
  return facts;
}

}  // namespace

QString abilityWords(Ability ability) {
  switch (ability) {
    case Ability::Support:
      return QStringLiteral("say which nodes it accepts");
    case Ability::Compile:
      return QStringLiteral("compile a network");
    case Ability::ReadBack:
      return QStringLiteral("report which kernels it made");
    case Ability::Run:
      return QStringLiteral("run a network");
    case Ability::Time:
      return QStringLiteral("be timed");
    case Ability::Profile:
      return QStringLiteral("be timed kernel by kernel");
    case Ability::InnerValues:
      return QStringLiteral("return values inside the network");
    case Ability::Keep:
      return QStringLiteral("be kept in an engine file");
  }
  return {};
}

Compilers::Compilers(QObject* parent) : QObject(parent) {
  m_facts.emplace(ownCompiler().name(), askedFacts(ownCompiler()));
}

void Compilers::ask() {
  for (const Compiler* compiler : allCompilers()) ask(std::string(compiler->name()));
}

void Compilers::ask(const std::string& name) {
  if (name == kOwnCompiler || !m_asked.insert(name).second) return;
  // The compiler may have to be searched for as well.
  m_jobs.run(
      QStringLiteral("ask the compiler %1").arg(qs(name)), this,
      [name](const StopToken&) -> std::optional<CompilerFacts> {
        const Compiler* compiler = findCompiler(name);
        if (compiler == nullptr) return std::nullopt;
        CompilerFacts facts = askedFacts(*compiler);
        endIdleJobs();  // the worker compiles in processes of its own
        return facts;
      },
      [this, name](const std::optional<CompilerFacts>& facts) {
        if (facts) m_facts.insert_or_assign(name, *facts);
        emit changed();
      });
}

void Compilers::askAgain() {
  for (const std::string& name : std::exchange(m_asked, {})) ask(name);
}

const CompilerFacts* Compilers::facts(std::string_view name) const {
  const auto known = m_facts.find(name);
  return known == m_facts.end() ? nullptr : &known->second;
}

QString Compilers::title(std::string_view name) const {
  const auto known = m_facts.find(name);
  return known == m_facts.end() ? qs(name) : compilerTitle(known->second.identity);
}

QString Compilers::whyNot(std::string_view name, Ability ability) const {
  if (findCompiler(name) == nullptr) return QStringLiteral("This program has no compiler %1.").arg(qs(name));
  const auto known = m_facts.find(name);
  if (known == m_facts.end()) return QStringLiteral("%1 is being asked what it can do.").arg(qs(name));
  const auto cannot = known->second.cannot.find(ability);
  return cannot == known->second.cannot.end() ? QString() : qs(cannot->second);
}

}  // namespace fusescope
