package hindsight;

import java.io.IOException;
import java.io.Serializable;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.api.java.UDF2;

/**
 * A whole file, through the file systems that Spark knows: as a function of a URI and the bytes, called where Spark
 * runs. Gives how many bytes were written; called again for the same URI it writes the same file.
 */
public class FileOut implements UDF2, Serializable {
    public Object call(Object uri, Object content) throws IOException {
        byte[] bytes = (byte[]) content;
        Path path = new Path(java.net.URI.create((String) uri));
        FSDataOutputStream stream = path.getFileSystem(SparkHadoopUtil.get().conf()).create(path, true);
        try {
            stream.write(bytes);
        } finally {
            stream.close();
        }
        return Integer.valueOf(bytes.length);
    }
}
