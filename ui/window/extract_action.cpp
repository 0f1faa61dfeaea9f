#include "ui/window/extract_action.h"

#include <QFileDialog>
#include <QFileInfo>

#include "session/extract.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

namespace fusescope {

namespace {

const QString kExtractMessage = QStringLiteral("extract");

/// What is cut out of what, as values: the work is done off the GUI thread.
struct ExtractWork {
  std::string model;
  std::shared_ptr<const Plan> plan;
  PartWishes wishes;
  SampleSource inputs;
  std::filesystem::path path;

  Result<ExtractedPart> run(const StopToken& stop) const {
    const Artifact artifact{.path = model, .plan = plan};
    const Samples samples = TRY(loadSamples(*plan, inputs));
    ExtractedPart part = TRY(extractPart(artifact, wishes, &samples, {.path = path, .run = {.stop = stop}}));
    TRY(part.save());
    return part;
  }
};

QString whatWasWritten(const ExtractedPart& part, const QString& path) {
  const QString values = !part.whyNoValues.empty()
                             ? QStringLiteral("without values: %1").arg(qs(part.whyNoValues))
                             : QStringLiteral(
                                   "with its inputs' values of %1 beside it; run on them it gives what the "
                                   "whole has there%2")
                                   .arg(part.randomInputs ? QStringLiteral("random inputs")
                                                          : QStringLiteral("%1 samples").arg(part.samples.size()),
                                        part.identical ? QStringLiteral(", to the bit") : QString());
  return QStringLiteral("%1 nodes are in %2, %3.").arg(part.nodes.size()).arg(path, values);
}

}  // namespace

QString extractRefusal(MainWindow& window) {
  if (!window.document().snapshot()) return QStringLiteral("Open a model first.");
  if (window.selection().nodes().empty()) return QStringLiteral("Select a node first.");
  if (!window.selection().inside().empty())
    return QStringLiteral("A part holds whole nodes of the main graph: select the node that has the body.");
  return {};
}

void extractSelected(MainWindow& window) {
  const QString name = QFileInfo(window.document().path()).completeBaseName() + QStringLiteral("_part.onnx");
  const QString path =
      QFileDialog::getSaveFileName(&window, QStringLiteral("Extract the selected nodes"),
                                   besideModel(window.document(), name), QStringLiteral("Networks (*.onnx)"));
  if (!path.isEmpty()) extractSelected(window, path);
}

void extractSelected(MainWindow& window, const QString& path) {
  const auto snapshot = window.document().snapshot();
  if (!extractRefusal(window).isEmpty()) return;
  ExtractWork work{.model = window.document().modelFile().path,
                   .plan = snapshot->plan,
                   .wishes = {},
                   .inputs = window.runs().settings().inputs,
                   .path = path.toStdString()};
  for (const NodeId node : window.selection().nodes()) work.wishes.nodes.push_back(snapshot->graph().node(node).name);
  window.jobs().run(
      QStringLiteral("extract"), &window, [work](const StopToken& stop) { return work.run(stop); },
      [&window, path](const Result<ExtractedPart>& part) {
        if (!part.ok())
          return window.messages().show(
              kExtractMessage, QStringLiteral("✗ The part was not written: %1").arg(problemInWords(part.error())), {});
        window.messages().show(kExtractMessage, whatWasWritten(part.value(), path),
                               {{QStringLiteral("Open it"), [&window, path] { window.openFile(path); }}});
      });
}

}  // namespace fusescope
