#include "ui/document/environment_words.h"

#include "compilers/probed/probed_kind.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

QString paragraph(const QString& html) {
  return QStringLiteral("<p style='margin:0 0 8px 0'>%1</p>").arg(html);
}

/// Returns text of several lines as HTML; commands in it can be copied.
QString lines(const std::string& text) {
  return html(text).replace(QLatin1Char('\n'), QStringLiteral("<br>"));
}

QString wrong(const std::string& problem) {
  return paragraph(QStringLiteral("<b>✗</b> %1").arg(lines(problem)));
}

QString commandHtml(const Environment& environment) {
  return paragraph(QStringLiteral("Command: <code>%1</code>").arg(html(environment.command)));
}

/// Describes the limits of an environment that the user has set: the memory of a process, and what is kept there.
QString limitsHtml(const Environment& environment) {
  QStringList parts;
  if (const auto& most = environment.memoryBytes)
    parts << (*most == 0 ? QStringLiteral("a process may allocate any amount of memory")
                         : QStringLiteral("a process may allocate %1 of memory").arg(bytesText(*most)));
  if (environment.keepsFiles) parts << QStringLiteral("networks are kept on its machine");
  return parts.isEmpty() ? QString() : paragraph(parts.join(QStringLiteral(" · ")));
}

QString pythonWords(const FoundEnvironment& found) {
  return QStringLiteral("Python %1 on %2").arg(qs(found.python), qs(found.machine));
}

/// Describes processors and memory, as far as the listener reported them.
QString machineHtml(const FoundEnvironment& found) {
  QStringList parts;
  const auto numberOf = [&](const char* key) {
    const auto value = found.hello.is_object() ? found.hello.find(key) : found.hello.end();
    return value != found.hello.end() && value->is_number_integer() ? value->get<std::int64_t>() : 0;
  };
  if (const auto processors = numberOf("cpus"); processors > 0)
    parts << plural(processors, QStringLiteral("processor"));
  if (const auto bytes = numberOf("memory"); bytes > 0) parts << QStringLiteral("%1 of memory").arg(bytesText(bytes));
  return parts.isEmpty() ? QString() : paragraph(parts.join(QStringLiteral(" · ")));
}

}  // namespace

bool isOfNoUse(const KnownEnvironment& known) {
  return !known.isConfirmed || (known.found && !known.found->problem.empty());
}

QString foundWords(const KnownEnvironment& known) {
  if (known.isLookedAt) return QStringLiteral("being examined …");
  if (!known.isConfirmed) return QStringLiteral("✗ its command is not confirmed on this machine");
  if (!known.found) return QStringLiteral("not examined yet");
  if (!known.found->problem.empty())
    return QStringLiteral("✗ ") + qs(known.found->problem).section(QLatin1Char('\n'), 0, 0);
  return pythonWords(*known.found);
}

QString foundWords(const FoundCompiler& compiler) {
  if (!compiler.problem.empty())
    return compiler.version.empty() ? QStringLiteral("not installed") : QStringLiteral("✗ cannot be used");
  const Compiler* known = findCompiler(compiler.compiler);
  if (known == nullptr) return QStringLiteral("✓ found");
  if (!known->untried().empty()) return QStringLiteral("✓ found, untried");
  return known->untriedToRun().empty() ? QStringLiteral("✓ found") : QStringLiteral("✓ found, running is untried");
}

std::string compilerIn(const std::string& compiler, const Environment& environment) {
  return compiler + "@" + environment.name;
}

QString foundHtml(const FoundEnvironment& found) {
  if (!found.problem.empty()) return wrong(found.problem);
  QString text = paragraph(QStringLiteral("<b>✓ %1</b>").arg(pythonWords(found).toHtmlEscaped())) + machineHtml(found);
  for (const FoundCompiler& compiler : found.compilers)
    text += compiler.problem.empty()
                ? paragraph(QStringLiteral("<b>✓ %1 %2</b>").arg(html(compiler.compiler), html(compiler.version)))
                : paragraph(QStringLiteral("<b>%1</b>: %2").arg(html(compiler.compiler), lines(compiler.problem)));
  return text;
}

QString environmentHtml(const KnownEnvironment& known) {
  QString text = commandHtml(known.environment);
  text += paragraph(known.isAdded       ? QStringLiteral("You added it.")
                    : known.isOfSession ? QStringLiteral("The session uses it.")
                                        : QStringLiteral("It was found automatically."));
  text += limitsHtml(known.environment);
  if (!known.isConfirmed)
    return text +
           paragraph(QStringLiteral("<b>✗ Nobody has confirmed this command on this machine, so it is not started.</b> "
                                    "Read it, and confirm it if you trust it."));
  if (known.isLookedAt) return text + paragraph(QStringLiteral("It is being examined …"));
  return known.found ? text + foundHtml(*known.found) : text;
}

QString compilerHtml(const KnownEnvironment& known, const FoundCompiler& compiler, const Compilers& compilers) {
  QString text = paragraph(QStringLiteral("<b>%1 %2</b> in %3")
                               .arg(html(compiler.compiler), html(compiler.version), html(known.environment.name)));
  const ProbedKind* kind = findProbedKind(compiler.compiler);
  if (!compiler.problem.empty())
    return text + wrong(compiler.problem) + (kind == nullptr ? QString() : paragraph(html(kind->elsewhere())));
  if (kind != nullptr && !kind->untried().empty())
    text += paragraph(QStringLiteral("<b>Untried.</b> %1").arg(html(kind->untried())));
  if (kind != nullptr && !kind->untriedToRun().empty())
    text += paragraph(QStringLiteral("<b>Running is untried.</b> %1").arg(html(kind->untriedToRun())));
  const std::string name = compilerIn(compiler.compiler, known.environment);
  const CompilerFacts* facts = compilers.facts(name);
  if (facts == nullptr)
    return text + paragraph(QStringLiteral("Its abilities are known after it was asked: Build, Build with."));
  for (const Ability ability : allAbilities()) {
    const auto cannot = facts->cannot.find(ability);
    const QString word = abilityWords(ability);
    text += cannot == facts->cannot.end()
                ? QStringLiteral("<div>✓ It can %1.</div>").arg(word)
                : QStringLiteral("<div>✗ It cannot %1: %2</div>").arg(word, html(cannot->second));
  }
  return text;
}

}  // namespace fusescope
