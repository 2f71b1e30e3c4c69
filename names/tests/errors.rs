//! A model that cannot be used is refused with the file, the tensor and the shapes.

use std::fs;
use std::path::{Path, PathBuf};

use cloak_names::{ModelError, Names};
use safetensors::{SafeTensors, serialize_to_file, tensor::TensorView};

/// A copy of the built-in model's files in a folder of its own.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("cloak-names-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for file in ["model.json", "model.safetensors"] {
            fs::write(folder.join(file), model(file)).unwrap();
        }
        Self(folder)
    }

    fn write(&self, file: &str, bytes: &[u8]) {
        fs::write(self.0.join(file), bytes).unwrap();
    }

    /// Writes the tensors anew, each with another shape or left out as `change` says.
    fn reshape(&self, change: impl Fn(&str, &[usize]) -> Option<Vec<usize>>) {
        let bytes = model("model.safetensors");
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        let changed = tensors.iter().filter_map(|(name, view)| {
            let shape = change(name, view.shape())?;
            Some((
                name,
                TensorView::new(view.dtype(), shape, view.data()).unwrap(),
            ))
        });
        let changed: Vec<_> = changed.collect();
        serialize_to_file(changed, None, &self.0.join("model.safetensors")).unwrap();
    }

    fn error(&self) -> ModelError {
        Names::open(&self.0).err().expect("the model is damaged")
    }

    fn message(&self) -> String {
        self.error()
            .to_string()
            .replace(&*self.0.to_string_lossy(), "DIR")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn model(file: &str) -> Vec<u8> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/spacy-en-sm");
    fs::read(models.join(file)).unwrap()
}

#[test]
fn an_undamaged_copy_opens() {
    let folder = Folder::new("whole");
    Names::open(&folder.0).unwrap();
}

#[test]
fn an_absent_folder() {
    let error = Names::open(Path::new("/nonexistent/model")).err().unwrap();
    assert!(
        error
            .to_string()
            .starts_with("/nonexistent/model/model.json: cannot be read: ")
    );
}

#[test]
fn a_truncated_file() {
    let folder = Folder::new("truncated");
    let bytes = model("model.safetensors");
    for length in [0, 7, 100, bytes.len() / 2, bytes.len() - 1] {
        folder.write("model.safetensors", &bytes[..length]);
        assert!(matches!(
            folder.error(),
            ModelError::Malformed {
                format: "safetensors",
                ..
            }
        ));
    }
    folder.write("model.safetensors", &bytes);
    folder.write("model.json", &model("model.json")[..1000]);
    assert!(
        folder
            .message()
            .starts_with("DIR/model.json: not a valid model description file: EOF")
    );
}

#[test]
fn another_architecture() {
    let folder = Folder::new("architecture");
    folder.write("model.json", br#"{"architecture": "bert"}"#);
    let expected = "DIR/model.json: a model of architecture \"bert\"; this build runs spacy-cnn";
    assert_eq!(folder.message(), expected);
}

#[test]
fn a_missing_tensor() {
    let folder = Folder::new("missing");
    folder.reshape(|name, shape| (name != "conv.2.bias").then(|| shape.to_vec()));
    assert_eq!(
        folder.message(),
        "DIR/model.safetensors: tensor \"conv.2.bias\" is missing"
    );
}

#[test]
fn a_tensor_of_another_shape() {
    let folder = Folder::new("shape");
    folder.reshape(|name, shape| {
        Some(if name == "mix.weight" {
            vec![shape[1], shape[0]]
        } else {
            shape.to_vec()
        })
    });
    let expected = "DIR/model.safetensors: tensor \"mix.weight\" has shape [384, 288] where \
                    [288, 384] is expected";
    assert_eq!(folder.message(), expected);
    folder.reshape(|name, shape| {
        Some(if name == "embed.norm" {
            vec![shape[0] * shape[1]]
        } else {
            shape.to_vec()
        })
    });
    let expected = "DIR/model.safetensors: tensor \"embed.norm\" has shape [480000] where \
                    [n, 96] is expected";
    assert_eq!(folder.message(), expected);
}

#[test]
fn a_number_that_is_not_finite() {
    let folder = Folder::new("finite");
    let mut bytes = model("model.safetensors");
    let end = bytes.len();
    bytes[end - 64..].fill(0xff);
    folder.write("model.safetensors", &bytes);
    assert!(
        folder
            .message()
            .ends_with("holds a number that is not finite")
    );
}

#[test]
fn damaged_descriptions_never_panic() {
    let folder = Folder::new("description");
    let text = String::from_utf8(model("model.json")).unwrap();
    for (from, to) in [
        ("\"B-ORG\"", "\"X-ORG\""),
        ("\"I-ORG\",", ""),
        ("\"O\"]", "\"U-ORG\"]"),
        ("\"B-ORG\"", "\"B-SHIP\""),
        ("\"alpha\":[", "\"alpha\":[5,"),
        ("\"alpha\":[", "\"beta\":["),
        ("\"upper\":[", "\"upper\":[9,1114112,"),
        ("\"seeds\":{\"norm\":8", "\"seeds\":{\"norm\":\"eight\""),
    ] {
        assert!(text.contains(from), "{from}");
        folder.write("model.json", text.replacen(from, to, 1).as_bytes());
        let error = folder.error();
        assert!(
            matches!(error, ModelError::Malformed { .. }),
            "{from} -> {to}: {error}"
        );
    }
}
