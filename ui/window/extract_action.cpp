#include "ui/window/extract_action.h"

#include <QFileDialog>
#include <QFileInfo>
#include <algorithm>
#include <set>

#include "planning/directives/directive_form.h"
#include "session/extract.h"
#include "session/inputs/load_samples.h"
#include "session/inputs/sample_source.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

namespace fusescope {

namespace {

const QString kExtractTag = QStringLiteral("extract");  ///< the tag of the job and of its message

/// What is extracted, and from which plan. These are values, because the work is done on another thread.
struct ExtractWork {
  std::shared_ptr<const Plan> plan;
  std::set<std::size_t> nodes;  ///< numbers of nodes of the file
  SampleSource inputs;
  ExtractOptions options;

  Result<ExtractedPart> run(const StopToken& stop) const {
    ExtractOptions stoppable = options;
    stoppable.run.stop = stop;
    const NetworkCutter cutter = TRY(NetworkCutter::open(*plan, stop));
    const NetworkPart part = TRY(partOfNodes(cutter.values(), nodes, cutter.facts()));
    const Samples samples = TRY(loadSamples(*plan, inputs));
    return extractPart(cutter, *plan, part, &samples, stoppable);
  }
};

/// Returns the nodes of the file that the selected nodes represent. A node that int8 added to the plan represents none.
std::set<std::size_t> nodesOfFile(MainWindow& window) {
  const Graph& graph = window.document().snapshot()->graph();
  std::set<std::size_t> nodes;
  for (const NodeId node : window.selection().nodes())
    for (const OriginId origin : graph.node(node).origins) nodes.insert(origin.index);
  return nodes;
}

/// Returns whether one of the selected nodes represents a node of the file.
bool standForNodesOfFile(MainWindow& window) {
  const Graph& graph = window.document().snapshot()->graph();
  return std::ranges::any_of(window.selection().nodes(),
                             [&](NodeId node) { return !graph.node(node).origins.empty(); });
}

QString nameOfFile(const std::filesystem::path& path) {
  return qs(path.filename().string());
}

QString namesOfFiles(const std::vector<std::filesystem::path>& files) {
  QStringList names;
  for (const auto& file : files) names << nameOfFile(file);
  return names.join(QStringLiteral(", "));
}

QString whatWasWritten(const ExtractedPart& part, const QString& path) {
  const auto nodes = static_cast<std::int64_t>(part.nodes.size());
  const QString values = !part.whyNoValues.empty()
                             ? QStringLiteral("without values: %1").arg(qs(part.whyNoValues))
                             : QStringLiteral(
                                   "with the values of its inputs on %1 beside it; run on them, it gives the same "
                                   "numbers as the whole network%2")
                                   .arg(part.randomInputs ? QStringLiteral("random inputs")
                                                          : plural(static_cast<std::int64_t>(part.samples.size()),
                                                                   QStringLiteral("sample")),
                                        part.identical ? QStringLiteral(", to the bit") : QString());
  QStringList lines{QStringLiteral("%1 %2 in %3, %4.")
                        .arg(plural(nodes, QStringLiteral("node")),
                             nodes == 1 ? QStringLiteral("is") : QStringLiteral("are"), path, values)};
  if (part.files.size() > 1) lines << QStringLiteral("Written: %1.").arg(namesOfFiles(part.files));
  for (const std::string& note : part.notes) lines << QStringLiteral("Note: %1.").arg(qs(note));
  for (const Directive& directive : part.leftOut)
    lines << QStringLiteral("“%1” names nothing in this part, and was left out.").arg(qs(inWords(directive)));
  if (!part.left.empty())
    lines << QStringLiteral("These files are left from an earlier part of that name: %1.").arg(namesOfFiles(part.left));
  return lines.join(QLatin1Char('\n'));
}

void sayOfPart(MainWindow& window, const QString& text, const QList<MessageBar::Action>& actions = {}) {
  window.messages().show(kExtractTag, text, actions);
  window.actions().refresh();  // whether a part can be extracted has changed
}

void partNotWritten(MainWindow& window, const Diagnostic& error) {
  sayOfPart(window, QStringLiteral("✗ The part was not written: %1").arg(problemInWords(error)));
}

void savePart(MainWindow& window, const ExtractedPart& part, const QString& path) {
  window.jobs().run(
      kExtractTag, &window, [part](const StopToken&) { return part.save(); },
      [&window, part, path](const Status& written) {
        if (!written.ok()) return partNotWritten(window, written.error());
        sayOfPart(window, whatWasWritten(part, path),
                  {{QStringLiteral("Open it"), [&window, path] { window.openFile(path); }}});
      });
}

/// Asks before files beside the network are overwritten, because the file dialog asked only about the network.
void savePartOnceAsked(MainWindow& window, const ExtractedPart& part, const QString& path, bool isAsked) {
  std::vector<std::filesystem::path> there = part.files;
  if (isAsked) there.erase(there.begin());
  std::erase_if(there, [](const std::filesystem::path& file) {
    std::error_code none;
    return !std::filesystem::exists(file, none);
  });
  if (there.empty()) return savePart(window, part, path);
  sayOfPart(window,
            QStringLiteral("%1 %2 there already, and would be written with %3.")
                .arg(namesOfFiles(there), there.size() == 1 ? QStringLiteral("is") : QStringLiteral("are"),
                     QFileInfo(path).fileName()),
            {{QStringLiteral("Write over"), [&window, part, path] { savePart(window, part, path); }}});
}

}  // namespace

QString extractRefusal(MainWindow& window) {
  const auto snapshot = window.document().snapshot();
  if (!snapshot) return QStringLiteral("Open a model first.");
  if (window.selection().nodes().empty()) return QStringLiteral("Select a node first.");
  if (!window.selection().inside().empty())
    return QStringLiteral("A part consists of whole nodes of the main graph: select the node that has the body.");
  if (window.document().model()->format != "onnx") return QStringLiteral("A part can only be cut out of an ONNX file.");
  if (!standForNodesOfFile(window))
    return QStringLiteral("Only the plan has these nodes: select one that is in the file.");
  if (window.jobs().busy(kExtractTag)) return QStringLiteral("Another part is being extracted.");
  if (window.controller().busy())
    return QStringLiteral("The worker is busy, and what it times would be disturbed: wait, or cancel it.");
  return {};
}

void extractSelected(MainWindow& window) {
  const QString name = QFileInfo(window.document().path()).completeBaseName() + QStringLiteral("_part.onnx");
  QString path =
      QFileDialog::getSaveFileName(&window, QStringLiteral("Extract the selected nodes"),
                                   besideModel(window.document(), name), QStringLiteral("Networks (*.onnx)"));
  if (path.isEmpty()) return;
  const bool isWhole = !QFileInfo(path).suffix().isEmpty();
  if (!isWhole) path += QStringLiteral(".onnx");
  extractSelected(window, path, isWhole);
}

void extractSelected(MainWindow& window, const QString& path, bool isAsked) {
  if (const QString refusal = extractRefusal(window); !refusal.isEmpty())
    return sayOfPart(window, QStringLiteral("✗ The part was not written: %1").arg(refusal));
  const RunSettings& settings = window.runs().settings();
  const ExtractWork work{
      .plan = window.document().snapshot()->plan,
      .nodes = nodesOfFile(window),
      .inputs = settings.inputs,
      .options = {.path = path.toStdString(), .run = {.backend = settings.backend, .threads = settings.threads}}};
  window.jobs().run(
      kExtractTag, &window, [work](const StopToken& stop) { return work.run(stop); },
      [&window, path, isAsked](const Result<ExtractedPart>& part) {
        if (!part.ok()) return partNotWritten(window, part.error());
        savePartOnceAsked(window, part.value(), path, isAsked);
      });
  sayOfPart(window,
            QStringLiteral("Extracting %1 into %2 …")
                .arg(plural(static_cast<std::int64_t>(work.nodes.size()), QStringLiteral("node")),
                     QFileInfo(path).fileName()),
            {{QStringLiteral("Cancel"), [&window] { cancelExtraction(window); }}});
}

void cancelExtraction(MainWindow& window) {
  window.jobs().cancel(kExtractTag);
  window.messages().close(kExtractTag);
  window.actions().refresh();
}

}  // namespace fusescope
